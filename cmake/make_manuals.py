#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the manual pages of the programs from what they say under --help.

make_manuals.py PROGRAMS_DIR PAGES_DIR   fails if it cannot read what a program says; the build runs this
"""
import pathlib
import re
import subprocess
import sys

PROGRAMS = {
    "reckoner-server": "plays recorded or built-in motion to Reckoner clients",
    "reckoner-client": "joins a Reckoner server without a window",
    "reckoner-token": "makes keys and connect tokens",
    "reckoner-harness": "measures what players see over a bad network",
}
SEE_ALSO = sorted(PROGRAMS)
COLUMN = 30  # where CLI11 puts descriptions


def escaped(text):
    """Text as roff takes it literally."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("\t", "    ")
    return "\\&" + text if text[:1] in (".", "'") else text


def help_of(program, *command):
    finished = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True, timeout=60)
    return finished.stdout.rstrip("\n").split("\n")


class Help:
    """The parts of a page that CLI11 prints: what comes before "Usage:", sections of entries, and the rest."""

    def __init__(self, lines):
        usage = next(i for i, line in enumerate(lines) if line.startswith("Usage: "))
        self.description = lines[:usage]
        self.usage = lines[usage].removeprefix("Usage: ")
        self.sections = []  # (title, [(term, [description lines])])
        self.footer = []
        for line, after in zip(lines[usage + 1 :], lines[usage + 2 :] + [""]):
            self.take(line, after)
        while self.footer and not self.footer[-1]:
            self.footer.pop()

    def take(self, line, after):
        entry = re.match(r"  (\S.*)$", line)
        if line in ("Positionals:", "Subcommands:") or (line.endswith(":") and after.startswith("  -")):
            if self.footer:
                raise ValueError(f"a section after the footer: {line}")
            self.sections.append((line[:-1], []))
        elif self.sections and not self.footer and entry:
            split = line[COLUMN - 1 : COLUMN] == " "  # what is longer has its description in the lines below
            term, text = (line[:COLUMN], line[COLUMN:]) if split else (line, "")
            self.sections[-1][1].append((term.strip(), [text.strip()] if text.strip() else []))
        elif self.sections and not self.footer and line.startswith(" " * COLUMN):
            self.sections[-1][1][-1][1].append(line.strip())
        elif line or self.footer:
            self.footer.append(line)

    def options(self):
        return [(title, entries) for title, entries in self.sections if title != "Subcommands" and entries]

    def commands(self):
        return [entry[0] for title, entries in self.sections if title == "Subcommands" for entry in entries]


def roff_entries(entries):
    for term, text in entries:
        yield ".TP"
        yield "\\fB" + escaped(term) + "\\fR"
        for i, line in enumerate(text):
            if i:
                yield ".br"
            yield escaped(line)


def roff_verbatim(lines):
    yield ".nf"
    yield from (escaped(line) if line else "" for line in lines)
    yield ".fi"


def roff_help(page, heading):
    for title, entries in page.options():
        yield f'{heading} "{escaped(title)}"'
        yield from roff_entries(entries)


def page_of(name, program):
    top = Help(help_of(program))
    yield f".\\\" Made from {name} --help by cmake/make_manuals.py."
    yield f'.TH {escaped(name.upper())} 1 "" Reckoner "User Commands"'
    yield ".SH NAME"
    yield f"{escaped(name)} \\- {escaped(PROGRAMS[name])}"
    yield ".SH SYNOPSIS"
    yield ".B " + escaped(top.usage)
    yield ".SH DESCRIPTION"
    yield from (escaped(line) for line in top.description if line)
    yield from roff_help(top, ".SH")
    for command in top.commands():
        page = Help(help_of(program, command))
        yield f'.SH "{escaped(name + " " + command)}"'
        yield from (escaped(line) for line in page.description if line)
        yield from roff_help(page, ".SS")
        if page.footer:
            yield ".PP"
            yield from roff_verbatim(page.footer)
    if top.footer:
        yield ".SH EXAMPLES"
        yield from roff_verbatim(top.footer)
    yield ".SH SEE ALSO"
    yield ", ".join(f"{escaped(other)}(1)" for other in SEE_ALSO if other != name)


def main():
    programs, pages = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    pages.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        (pages / f"{name}.1").write_text("\n".join(page_of(name, programs / name)) + "\n")


if __name__ == "__main__":
    main()
