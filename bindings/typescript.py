# SPDX-License-Identifier: MIT
"""The part of generate.py for the npm packages: TypeScript types, the layout of every struct in WebAssembly (pointers and
size_t have 32 bits), and the lists of functions that the modules export."""
import re

from pycparser import c_ast

SCALARS = {  # C type: (bytes, kind of the member in native.ts)
    "int32_t": (4, "i32"), "uint32_t": (4, "u32"), "int64_t": (8, "i64"), "uint64_t": (8, "u64"), "uint16_t": (2, "u16"),
    "uint8_t": (1, "u8"), "size_t": (4, "u32"), "double": (8, "f64"), "float": (4, "f32"), "char": (1, "u8"),
    "reckoner_result": (4, "i32"), "reckoner_entity": (8, "u64"), "reckoner_client_id": (4, "u32"),
    "reckoner_route": (4, "u32"),
}
POINTER = (4, "pointer")
# Functions that need sockets, threads of the system or a C function of the caller.
ABSENT = {"reckoner_client_wait", "reckoner_client_ticket", "reckoner_client_set_token", "reckoner_server_wait",
          "reckoner_server_port", "reckoner_set_allocator", "reckoner_make_key", "reckoner_key_from_text",
          "reckoner_key_to_text", "reckoner_issue_token", "reckoner_check_version",
          # The packages do not use these: others do the same better in JavaScript, and every byte is downloaded.
          "reckoner_client_shown", "reckoner_client_shown_one", "reckoner_client_shown_poses_into",
          "reckoner_client_set_user_value", "reckoner_client_user_value", "reckoner_client_refused",
          "reckoner_client_lost_for", "reckoner_client_debug", "reckoner_server_set_user_value",
          "reckoner_server_user_value"}
COMMON = {"reckoner_error_text", "reckoner_version", "reckoner_protocol_version", "reckoner_refusal_name",
          "reckoner_call_error_text", "reckoner_archetype_init", "reckoner_field_spec_init", "reckoner_into_frame",
          "reckoner_out_of_frame"}
CLIENT = COMMON | {"reckoner_playout_init"}
SERVER = COMMON | {"reckoner_ownership_rules_init", "reckoner_prediction_rules_init", "reckoner_route_config_init",
                   "reckoner_sent_content_name"}


def camel(name):
    words = name.split("_")
    return words[0] + "".join(word.capitalize() for word in words[1:])


def exported(header, part):
    """The functions of the module for `part`, which is client or server."""
    extra = CLIENT if part == "client" else SERVER
    return [name for name in header.functions
            if (name.startswith(f"reckoner_{part}_") or name in extra) and name not in ABSENT]


def exports_list(header, part):
    return "".join(f"--export={name}\n" for name in exported(header, part))


def comments(text):
    """{(struct, member): the comment behind or above the member in the header}, as one line."""
    out = {}
    for struct in re.finditer(r"typedef struct (\w+) \{(.*?)\n\} \w+;", text, re.S):
        above = ""
        pattern = r"/\*(?P<above>.*?)\*/|(?P<members>[^;/]+);[ ]*(?:/\*(?P<behind>.*?)\*/)?"
        for found in re.finditer(pattern, struct[2], re.S):
            if found["members"] is None:
                above = found["above"]
                continue
            comment = " ".join((found["behind"] or above).split())
            above = ""
            for member in found["members"].split(","):
                name = re.search(r"(\w+)(\[\d+\])?\)?(\(.*)?\s*$", member.strip(), re.S)
                if comment and name:
                    out[struct[1], name[1]] = comment
    return out


class TypeScript:
    def __init__(self, header, text):
        self.header = header
        self.comments = comments(text)
        self.layouts = {name: self.layout_of(members) for name, members in header.structs.items()}

    def kind_of(self, node):
        """(size, alignment, kind, length) of a member; length 0: no array. Kind of a nested struct: its name."""
        if isinstance(node, c_ast.PtrDecl):
            return 4, 4, "pointer", 0
        if isinstance(node, c_ast.ArrayDecl):
            size, alignment, kind, _ = self.kind_of(node.type)
            length = int(node.dim.value)
            return size * length, alignment, kind, length
        name = node.type.names[0]
        if name in self.header.structs:
            size, members = self.layout_of(self.header.structs[name])
            return size, max(m[1] for m in members.values()), name, 0
        if name in self.header.callbacks:
            return 4, 4, "pointer", 0
        size, kind = SCALARS[name]
        return size, size, kind, 0

    def layout_of(self, members):
        """(size, {member: (offset, alignment, kind, length)}) by the rules of C on wasm32."""
        at, most, out = 0, 1, {}
        for member in members:
            size, alignment, kind, length = self.kind_of(member.type)
            at = -(-at // alignment) * alignment
            out[member.name] = (at, alignment, kind, length)
            at += size
            most = max(most, alignment)
        return -(-at // most) * most, out

    @staticmethod
    def struct_name(name):
        return "".join(part.capitalize() for part in name.removeprefix("reckoner_").split("_"))

    def layout(self, name):
        size, members = self.layouts[name]
        out = [f"export const {name} = {{", f"  size: {size},", "  members: {"]
        for member, (offset, _, kind, length) in members.items():
            nested = kind if kind in self.layouts else f"'{kind}'"
            out.append(f"    {camel(member)}: [{offset}, {nested}{f', {length}' if length else ''}],")
        return "\n".join([*out, "  },", "} as const satisfies Layout;"])

    def interface(self, name):
        out = [f"export interface {self.struct_name(name)} {{"]
        for member, (_, _, kind, length) in self.layouts[name][1].items():
            if kind == "pointer" or member == "struct_size" or member.startswith("reserved"):
                continue
            comment = self.comments.get((name, member))
            if comment:
                out.append(f"  /** {comment} */")
            kind = self.struct_name(kind) if kind in self.layouts else "number"
            out.append(f"  {camel(member)}: {'ArrayLike<number>' if length else kind};")
        return "\n".join([*out, "}"])

    def enum(self, name, members):
        names = [member.removeprefix("RECKONER_") for member in members]
        common = 0
        split = [member.split("_") for member in names]
        while all(len(parts) > common + 1 and parts[:common + 1] == split[0][:common + 1] for parts in split):
            common += 1
        short = {camel("_".join(parts[common:]).lower()): value for parts, value in zip(split, members.values())}
        body = ", ".join(f"{key}: {value}" for key, value in short.items())
        upper = self.struct_name(name)
        return f"export const {camel(name.removeprefix('reckoner_'))} = {{ {body} }} as const;\n" \
               f"export type {upper} = keyof typeof {camel(name.removeprefix('reckoner_'))};"

    def parameter(self, parameter):
        node = parameter.type
        if isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
            return f"{camel(parameter.name)}: Pointer"
        kind = SCALARS[node.type.names[0]][1] if node.type.names[0] in SCALARS else "i32"
        return f"{camel(parameter.name)}: {'bigint' if kind in ('u64', 'i64') else 'number'}"

    def function(self, name):
        declaration = self.header.functions[name]
        parameters = [p for p in declaration.args.params if p.name is not None] if declaration.args else []
        node = declaration.type
        if isinstance(node, c_ast.PtrDecl):
            result = "Pointer"
        elif node.type.names[0] == "void":
            result = "void"
        else:
            result = "bigint" if SCALARS[node.type.names[0]][1] in ("u64", "i64") else "number"
        return f"  {name}({', '.join(map(self.parameter, parameters))}): {result};"

    def text(self, note, version):
        out = [f"// SPDX-License-Identifier: MIT\n// {note}", "",
               "/** An address in the memory of the module; 0: null. */", "export type Pointer = number;",
               "/** Type of a member; an object: the layout of a nested struct. */",
               "export type Kind = 'u8' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64' | 'pointer' | Layout;",
               "/** Offset, type and, for an array, the number of elements of each member of a struct. */",
               "export interface Layout {",
               "  readonly size: number;",
               "  readonly members: { readonly [name: string]: readonly [offset: number, kind: Kind, length?: number] };",
               "}", "", f"export const version = '{version}';", ""]
        out += [self.enum(name, members) for name, members in self.header.enums.items()]
        ordered = []

        def add(name):
            for _, _, kind, _ in self.layouts[name][1].values():
                if kind in self.layouts and kind not in ordered:
                    add(kind)
            if name not in ordered:
                ordered.append(name)
        for name in self.layouts:
            add(name)
        for name in ordered:
            out += ["", self.layout(name), self.interface(name)]
        for part in ("client", "server"):
            out += ["", f"/** The C functions of reckoner_{part}.wasm. */", f"export interface {part.capitalize()}Functions {{"]
            out += [self.function(name) for name in exported(self.header, part)]
            out.append("}")
        return "\n".join(out) + "\n"


def layouts_test(header, text):
    """What bindings/tests/layouts.c prints in WebAssembly, by the rules of layout_of()."""
    generator = TypeScript(header, text)
    out = []
    for name, (size, members) in generator.layouts.items():
        out.append(f"{name} {size}")
        for member, (offset, _, _, _) in members.items():
            node = next(m for m in header.structs[name] if m.name == member)
            out.append(f"{name}.{member} {offset} {generator.kind_of(node.type)[0]}")
    return "\n".join(out) + "\n"
