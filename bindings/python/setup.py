# SPDX-License-Identifier: MIT
"""Builds the wheel: the package, the C library, reckoner-harness and the libraries that they need.

RECKONER_BUILD is the folder of a CMake build, by default build/release of this repository. Needs ldd and patchelf, so
it makes wheels on Linux only."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RECKONER_BUILD", ROOT / "build/release"))
# Every Linux system has these, and two versions of them must not meet in one process.
OF_THE_SYSTEM = re.compile(r"^(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux.*|linux-vdso)\.so")


def needed(file):
    """The shared libraries that a program or library loads, as (name, path)."""
    for line in subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout.splitlines():
        found = re.match(r"\s*(\S+) => (/\S+)", line)
        if found and not OF_THE_SYSTEM.match(found[1]):
            yield found[1], pathlib.Path(found[2])


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "reckoner"
        libraries, programs = package / "lib", package / "bin"
        for folder in (libraries, programs):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        shutil.copy(BUILD / "capi/libreckoner.so.2", libraries)
        shutil.copy(ROOT / "build/bin/reckoner-harness", programs)
        for file in (libraries / "libreckoner.so.2", programs / "reckoner-harness"):
            for name, path in needed(file):
                if not (libraries / name).exists():
                    shutil.copy(path, libraries / name)
        for file in libraries.iterdir():
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", file], check=True)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../lib", programs / "reckoner-harness"], check=True)


class WithBinaries(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    """For one platform, but for every version of Python: the library is loaded at run time."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


version = re.search(r"project\(reckoner VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
setup(version=version, package_data={"reckoner": ["py.typed"]},
      distclass=WithBinaries,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
