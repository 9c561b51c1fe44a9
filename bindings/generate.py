#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the declarations of every binding from capi/include/reckoner.h, the only place where they are made by hand, and
the tables of struct members for the C library.

generate.py           writes the files
generate.py --check   exits with 1 if a file differs from what it would write
generate.py --wasm-layouts   prints the sizes and offsets that layouts.c must print in WebAssembly

It needs pycparser (Debian: python3-pycparser).
"""
import difflib
import hashlib
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from pycparser import c_ast, c_generator, c_parser  # noqa: E402

import typescript  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTE = "Generated from capi/include/reckoner.h by bindings/generate.py. Do not edit."
BASIC = {  # C type: (C# type, an equivalent for the parser)
    "int32_t": ("int", "int"), "uint32_t": ("uint", "unsigned"), "int64_t": ("long", "long long"),
    "uint64_t": ("ulong", "unsigned long long"), "uint16_t": ("ushort", "unsigned short"),
    "uint8_t": ("byte", "unsigned char"), "size_t": ("UIntPtr", "unsigned long"),
}
CSHARP_NAMES = {"reckoner_archetype": "ArchetypeSettings", "reckoner_client_config": "ClientSettings",
                "reckoner_server_config": "ServerSettings", "reckoner_route_config": "RouteSettings",
                "reckoner_seen": "SeenPose", "reckoner_poses": "NativePoses", "reckoner_message": "NativeMessage",
                "reckoner_server_event": "NativeServerEvent", "reckoner_player_input": "NativePlayerInput",
                "reckoner_prediction_step": "NativeStep", "reckoner_corrected_entity": "NativeCorrectedEntity",
                "reckoner_correction": "NativeCorrection"}  # the classes of the binding have the short names
VECTORS = {("double", 2): "Double2", ("double", 3): "Double3", ("float", 3): "Float3", ("float", 4): "Float4",
           ("double", 4): "Double4"}


class Header:
    """What reckoner.h declares: enums, structs and functions, in its order."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r'#ifdef __cplusplus\n.*?#endif', "", text, flags=re.S)
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        text = text.replace("RECKONER_C_API ", "")
        prelude = "".join(f"typedef {c} {name};\n" for name, (_, c) in BASIC.items())
        tree = c_parser.CParser().parse(prelude + text)
        self.nodes = tree.ext[len(BASIC):]
        self.enums, self.structs, self.functions, self.aliases, self.callbacks = {}, {}, {}, {}, {}
        for node in self.nodes:
            if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
                self._add_enum(node.type)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.functions[node.name] = node.type
            elif isinstance(node, c_ast.Typedef):
                self._add_type(node)
            else:
                raise SystemExit(f"generate.py does not know what to do with {node}")

    def _add_enum(self, enum):
        if enum.name is None:
            raise SystemExit(f"give the enum of {enum.values.enumerators[0].name} a name: bindings need one")
        value, members = -1, {}
        for member in enum.values.enumerators:
            value = value + 1 if member.value is None else int(c_generator.CGenerator().visit(member.value), 0)
            members[member.name] = value
        self.enums[enum.name] = members

    def _add_type(self, node):
        inner = node.type.type
        if isinstance(inner, c_ast.Struct):
            if inner.decls is not None:
                self.structs[node.name] = inner.decls
            else:
                self.aliases[node.name] = "IntPtr"  # a handle
        elif isinstance(inner, c_ast.FuncDecl):
            self.callbacks[node.name] = inner
        else:
            self.aliases[node.name] = BASIC[inner.names[0]][0]

    def c_text(self):
        """All declarations without comments and preprocessor, as the C parsers of cffi and LuaJIT read them."""
        generator = c_generator.CGenerator()
        out = []
        for node in self.nodes:
            text = generator.visit(node)
            out.append(re.sub(r"\n\s*", " ", text) + ";" if isinstance(node.type, c_ast.FuncDecl) else text + ";")
        return "\n".join(out) + "\n"


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(reckoner VERSION (\S+)", text)[1]


def pascal(name):
    if name in CSHARP_NAMES:
        return CSHARP_NAMES[name]
    return "".join(part.capitalize() for part in name.removeprefix("reckoner_").split("_"))


def short_members(members):
    """Enumerators without their common prefix: RECKONER_LOG_DEBUG is DEBUG."""
    names = [name.split("_") for name in members]
    common = 1
    while all(len(n) > common + 1 and n[:common + 1] == names[0][:common + 1] for n in names):
        common += 1
    return {"_".join(parts[common:]): value for parts, value in zip(names, members.values())}


# ---- C, Python, Lua ---------------------------------------------------------------------------------------------


def layouts_c(header):
    out = [f"/* SPDX-License-Identifier: MIT\n * {NOTE}\n * Prints the size of every struct, and offset and size of"
           " every member: what each binding's test expects. */",
           "#include <reckoner.h>", "#include <stdio.h>", "",
           "#define SIZE(type) printf(\"%s %zu\\n\", #type, sizeof(type))",
           "#define MEMBER(type, member) \\",
           "  printf(\"%s.%s %zu %zu\\n\", #type, #member, offsetof(type, member), sizeof(((type*)0)->member))", "",
           "int main(void) {"]
    for name, members in header.structs.items():
        out.append(f"  SIZE({name});")
        out += [f"  MEMBER({name}, {member.name});" for member in members]
    return "\n".join([*out, "  return 0;", "}"]) + "\n"


def struct_members_hpp(header):
    """For the C library: where the members of each sized struct end, so that it can check a struct_size."""
    out = [f"// SPDX-License-Identifier: MIT\n// {NOTE}", "#pragma once", "", "// clang-format off", "#include <array>",
           "#include <cstddef>", "#include <cstdint>", "", "#include <reckoner.h>", "", "namespace reckoner::capi {", "",
           "/// Where each member of a sized struct ends, bytes from the beginning of the struct.", "template <class T>",
           "inline constexpr std::array<std::size_t, 0> kMemberEnds{};"]
    for name, members in header.structs.items():
        if members[0].name != "struct_size":
            continue
        out += ["template <>", f"inline constexpr auto kMemberEnds<{name}> = std::to_array<std::size_t>({{"]
        out += [f"    offsetof({name}, {m.name}) + sizeof({name}::{m.name})," for m in members]
        out.append("});")
    return "\n".join([*out, "", "}  // namespace reckoner::capi"]) + "\n"


def python(header):
    out = [f"# SPDX-License-Identifier: MIT\n# {NOTE}", '"""The C declarations, and the enums of the C API."""',
           "from enum import IntEnum\n", f'VERSION = "{version()}"\n', 'CDEF = """', header.c_text() + '"""']
    for name, members in header.enums.items():
        out.append(f"\n\nclass {pascal(name)}(IntEnum):")
        out += [f"    {short} = {value}" for short, value in short_members(members).items()]
    return "\n".join(out) + "\n"


def lua(header):
    return (f"-- SPDX-License-Identifier: MIT\n-- {NOTE}\n"
            f"require(\"ffi\").cdef [[\n{header.c_text()}]]\nreturn {{ version = \"{version()}\" }}\n")


# ---- C# ---------------------------------------------------------------------------------------------------------


class CSharp:
    """Structs with the members of C, enums, and the imported functions (C# 7.3)."""

    def __init__(self, header):
        self.header = header

    def type_of(self, node):
        """The C# type of a C type."""
        if isinstance(node, c_ast.TypeDecl):
            name = node.type.names[0]
            if name in BASIC:
                return BASIC[name][0]
            if name in self.header.structs:
                return pascal(name)
            if name in self.header.callbacks:
                return "IntPtr"
            if name == "reckoner_result":
                return "int"
            return self.header.aliases.get(name, {"char": "byte"}.get(name, name))
        if isinstance(node, c_ast.ArrayDecl):  # of a function: a pointer
            return self.type_of(node.type) + "*"
        if isinstance(node, c_ast.PtrDecl):
            if isinstance(node.type, c_ast.FuncDecl):
                return "IntPtr"
            inner = self.type_of(node.type)
            return "IntPtr" if self.is_handle(node.type) else inner + "*"
        raise SystemExit(f"no C# type for {node}")

    def is_handle(self, node):
        return isinstance(node, c_ast.TypeDecl) and self.header.aliases.get(node.type.names[0]) == "IntPtr"

    def member(self, member):
        name = pascal(member.name)
        if isinstance(member.type, c_ast.ArrayDecl):
            element, length = self.type_of(member.type.type), int(member.type.dim.value)
            if (element, length) in VECTORS:
                return f"public {VECTORS[element, length]} {name};"
            return f"public fixed {element} {name}[{length}];"
        kind = self.type_of(member.type)
        private = kind.endswith("*") or kind == "IntPtr" or name == "StructSize" or name.startswith("Reserved")
        return f"{'internal' if private else 'public'} {kind} {name};"

    def parameter(self, parameter):
        name = parameter.name
        words = name.split("_")
        return f"{self.type_of(parameter.type)} @{words[0] + ''.join(w.capitalize() for w in words[1:])}"

    def function(self, name, declaration):
        parameters = [p for p in declaration.args.params if p.name is not None] if declaration.args else []
        result = self.type_of(declaration.type)
        return (f"    [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]\n"
                f"    internal static extern {result} {name}({', '.join(map(self.parameter, parameters))});")

    def callback(self, name, declaration):
        parameters = ", ".join(map(self.parameter, declaration.args.params))
        return (f"  [UnmanagedFunctionPointer(CallingConvention.Cdecl)]\n"
                f"  internal unsafe delegate {self.type_of(declaration.type)} {pascal(name)}({parameters});")

    def text(self):
        out = [f"// SPDX-License-Identifier: MIT\n// {NOTE}", "using System;",
               "using System.Runtime.InteropServices;", "",
               "#pragma warning disable 169, 649, 1591 // the library sets the fields; reckoner.h documents them", "",
               "namespace Reckoner {"]
        for name, members in self.header.enums.items():
            values = ", ".join(f"{pascal(m.lower())} = {v}" for m, v in short_members(members).items())
            out.append(f"  public enum {pascal(name)} {{ {values} }}")
        for name, declaration in self.header.callbacks.items():
            out.append(self.callback(name, declaration))
        for name, members in self.header.structs.items():
            out.append(f"\n  [StructLayout(LayoutKind.Sequential)]\n  public unsafe partial struct {pascal(name)} {{")
            out += ["    " + self.member(member) for member in members] + ["  }"]
        out += ["\n  internal static unsafe class Native {", f"    internal const string Version = \"{version()}\";",
                "#if UNITY_IOS && !UNITY_EDITOR", "    internal const string Library = \"__Internal\";", "#else",
                "    internal const string Library = \"reckoner\";", "#endif"]
        out += [self.function(name, declaration) for name, declaration in self.header.functions.items()]
        return "\n".join([*out, "  }", "}"]) + "\n"


def csharp_layouts(header):
    """For the test: the C# struct of every C struct, and the C# member of every C member."""
    out = [f"// SPDX-License-Identifier: MIT\n// {NOTE}", "using System;", "using System.Collections.Generic;", "",
           "namespace Reckoner.Tests {", "  internal static class Layouts {",
           "    public static readonly Dictionary<string, Type> Types = new Dictionary<string, Type> {"]
    out += [f"      {{ \"{name}\", typeof({pascal(name)}) }}," for name in header.structs]
    out += ["    };", "    public static readonly Dictionary<string, string> Members = new Dictionary<string, string> {"]
    out += [f"      {{ \"{name}.{member.name}\", \"{pascal(member.name)}\" }},"
            for name, members in header.structs.items() for member in members]
    return "\n".join([*out, "    };", "  }", "}"]) + "\n"


UNITY = "bindings/unity"
UNITY_IMPORTERS = {".cs": "MonoImporter", ".asmdef": "AssemblyDefinitionImporter", ".json": "PackageManifestImporter",
                   "": "DefaultImporter"}


def unity_metas():
    """Unity ignores the files of packages from git or a registry that have no .meta file with an identity (GUID). Folders
    that end with ~ are not part of the project."""
    out = {}
    generated = [UNITY + "/Runtime/Generated.cs", UNITY + "/Tests/Layouts.cs"]
    for file in sorted({*(ROOT / UNITY).rglob("*"), *(ROOT / path for path in generated)}):
        path = file.relative_to(ROOT / UNITY)
        if file.suffix == ".meta" or any(part.endswith("~") or part.startswith(".") for part in path.parts):
            continue
        guid = hashlib.md5(f"reckoner/{path.as_posix()}".encode()).hexdigest()
        folder = "folderAsset: yes\n" if file.is_dir() else ""
        importer = UNITY_IMPORTERS.get(file.suffix, "TextScriptImporter")
        out[f"{UNITY}/{path.as_posix()}.meta"] = (
            f"fileFormatVersion: 2\nguid: {guid}\n{folder}{importer}:\n  externalObjects: {{}}\n  userData: \n"
            "  assetBundleName: \n  assetBundleVariant: \n")
    return out


def main():
    text = (ROOT / "capi/include/reckoner.h").read_text()
    header = Header(text)
    if "--wasm-layouts" in sys.argv:
        sys.stdout.write(typescript.layouts_test(header, text))
        return
    files = {
        "bindings/web/src/generated.ts": typescript.TypeScript(header, text).text(NOTE, version()),
        **{f"capi/src/{part}/web_exports.txt": typescript.exports_list(header, part) for part in ("client", "server")},
        "capi/src/values/struct_members.hpp": struct_members_hpp(header),
        "bindings/tests/layouts.c": layouts_c(header),
        "bindings/python/src/reckoner/_generated.py": python(header),
        "bindings/lua/reckoner_declarations.lua": lua(header),
        "bindings/unity/Runtime/Generated.cs": CSharp(header).text(),
        "bindings/unity/Tests/Layouts.cs": csharp_layouts(header),
        **unity_metas(),
    }
    stale = []
    for path, text in files.items():
        file = ROOT / path
        present = file.read_text() if file.exists() else ""
        if present == text:
            continue
        stale.append(path)
        if "--check" in sys.argv:
            sys.stdout.writelines(difflib.unified_diff(present.splitlines(True), text.splitlines(True), path, "current"))
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            print("wrote", path)
    if stale and "--check" in sys.argv:
        sys.exit("not current; run bindings/generate.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
