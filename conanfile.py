# SPDX-License-Identifier: MIT
"""Conan 2: conan create . --build=missing"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Reckoner(ConanFile):
    name = "reckoner"
    license = "MIT"
    description = "Shows other people's moving things smoothly over a bad network"
    topics = ("game", "networking", "dead-reckoning", "interpolation")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "network": [True, False], "c_library": [True, False]}
    default_options = {"shared": False, "fPIC": True, "network": True, "c_library": True}
    exports_sources = (
        "CMakeLists.txt", "LICENSE", "cmake/*", "reckoning/*", "net/*", "server/*", "client/*", "capi/*", "!*/main.cpp",
    )

    def set_version(self):
        project = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(reckoner VERSION ([0-9.]+)", project)[1]

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        if not self.options.network:
            self.options.rm_safe("c_library")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("glm/[>=0.9.9.8 <2]", transitive_headers=True)
        if self.options.network:
            self.requires("enet/[>=1.3.17 <2]")
            self.requires("libsodium/[>=1.0.18 <2]")
            self.requires("cereal/[>=1.3.2 <2]", visible=False)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["RECKONER_NETWORK"] = bool(self.options.network)
        toolchain.cache_variables["RECKONER_C"] = bool(self.options.get_safe("c_library", False))
        toolchain.cache_variables["RECKONER_PROGRAMS"] = False
        toolchain.generate()
        dependencies = CMakeDeps(self)
        # By the names under which the project looks for them.
        dependencies.set_property("enet", "cmake_file_name", "ENet")
        dependencies.set_property("enet", "cmake_target_name", "ENet::ENet")
        dependencies.set_property("enet", "cmake_find_mode", "both")
        dependencies.set_property("libsodium", "cmake_file_name", "Sodium")
        dependencies.set_property("libsodium", "cmake_target_name", "Sodium::Sodium")
        dependencies.set_property("libsodium", "cmake_find_mode", "both")
        dependencies.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "reckoner")
        self.component("reckoning", ["glm::glm"])
        if self.options.network:
            self.component("net", ["reckoning", "enet::enet", "libsodium::libsodium"])
            self.component("server", ["net"])
            self.component("client", ["net"])
        if self.options.get_safe("c_library"):
            self.cpp_info.components["c"].libs = ["reckoner"]
            if self.options.shared:  # else they are in it
                self.cpp_info.components["c"].requires = ["server", "client"]
            self.cpp_info.components["c"].set_property("cmake_target_name", "reckoner::c")
            self.cpp_info.components["c"].set_property("pkg_config_name", "reckoner")

    def component(self, name, requires):
        component = self.cpp_info.components[name]
        component.libs = [f"reckoner-{name}"]
        component.requires = requires
        component.set_property("cmake_target_name", f"reckoner::{name}")
        component.set_property("pkg_config_name", f"reckoner-{name}")
        if not self.options.shared:
            component.defines = ["RECKONER_STATIC"]
