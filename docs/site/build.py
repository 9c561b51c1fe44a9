#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the site in build/site from the Markdown files of the repository and from Doxygen's pages in build/reference/html.

build.py            copies the pages into build/site-pages, runs MkDocs, and checks every link of the site

The pages keep their folders, so their links work in a repository browser and on the site. Source files that pages link to
become pages, too. Names in backticks, such as `Server::move()`, become links into the API reference.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
PAGES, SITE, REFERENCE = BUILD / "site-pages", BUILD / "site", BUILD / "reference"
LINK = re.compile(r"(!?\[[^\]]*\])\(\s*([^)\s#]*)(#[^)\s]*)?((?:\s+\"[^\"]*\")?)\s*\)")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".py": "python", ".toml": "toml", ".json": "json", ".service": "ini",
             ".lua": "lua"}


def anchor_of(heading, separator="-"):
    """The anchor of a heading, as GitHub makes it and as tests/include_rules checks it."""
    del separator
    return "".join(c for c in heading.strip().lower().replace(" ", "-") if c.isalnum() or c in "-_")


# ---- the API reference


def api_names():
    """{name: page} of classes, structs, enumerations and their members, from Doxygen's tag file."""
    names = {}
    for compound in xml.etree.ElementTree.parse(REFERENCE / "reckoner.tag").getroot().iter("compound"):
        if compound.get("kind") not in ("class", "struct", "namespace", "file"):
            continue
        full = compound.findtext("name")
        short = full.removeprefix("reckoner::") if full.startswith("reckoner::") else ""
        page = compound.findtext("filename")
        if short:
            names[short] = page
        for member in compound.iter("member"):
            name, file = member.findtext("name"), member.findtext("anchorfile")
            if not file:
                continue
            target = f"{file}#{member.findtext('anchor')}"
            if compound.get("kind") == "file":  # C
                if full == "reckoner.h":
                    names.setdefault(name, target)
            else:
                names.setdefault(f"{short}::{name}" if short else name, target)
    return {name: page if ".html" in page else page.replace("#", ".html#", 1) if "#" in page else page + ".html"
            for name, page in names.items()}


def with_api_links(text, names, to_root):
    """Each name in backticks that the reference knows becomes a link, outside of code, headings and links."""
    def replace(match):
        name = match[2].split("(")[0]
        if name in names and ("::" in name or match[2].startswith("reckoner_") or name[0].isupper()):
            return f"[`{match[2]}`]({to_root}api/{names[name]})"
        return match[0]

    result, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("#"):
            line = re.sub(r"(?<![\[`])(`)([A-Za-z_][\w:]*(?:\([^`]*\))?)`(?!\])", replace, line)
            line = re.sub(r"(?<![`\w:/])reckoner::([A-Z]\w+(?:::\w+)?)(\(\))?",
                          lambda m: f"[{m[1]}{m[2] or ''}]({to_root}api/{names[m[1]]})" if m[1] in names else m[0], line)
        result.append(line)
    return "\n".join(result)


# ---- the pages

ROW = re.compile(r"^\| *([^|]+?) *\| *([^|]+?) *\|(.*)$", re.M)
SEARCHED_BY_ROW = ("docs/TROUBLESHOOTING.md", "docs/glossary.md")


def is_row(cell):
    return cell not in ("symptom", "word") and not cell.startswith("--")


def with_row_anchors(text):
    """Each row of the tables gets an anchor, so that the search can lead to it."""
    return ROW.sub(lambda row: f'| <span id="{anchor_of(row[1])}">{row[1]}</span> | {row[2]} |{row[3]}' if is_row(row[1]) else row[0], text)


def search_rows():
    """An entry of the search index for each row of these tables."""
    for name in SEARCHED_BY_ROW:
        for row in ROW.finditer((ROOT / name).read_text()):
            if is_row(row[1]):
                yield {"location": name.replace(".md", ".html") + "#" + anchor_of(row[1]), "title": row[1],
                       "text": re.sub(r"[`|]|\]\([^)]*\)|\[", " ", row[2] + row[3])}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True,
                            capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def source_page(path):
    """A page with a source file, or with the list of a folder."""
    name = path.relative_to(ROOT)
    if path.is_dir():
        rows = [f"- [{each.name}]({each.name}.md)" for each in sorted(path.iterdir()) if each.suffix in LANGUAGES]
        return f"# {name}\n\n" + "\n".join(rows) + "\n"
    return f"# {path.name}\n\n`{name}`\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}\n````\n"


def copy_pages():
    """Markdown files with their pictures, and what they link to. Returns the pages of source files."""
    shutil.rmtree(PAGES, ignore_errors=True)
    files = tracked()
    markdown = [path for path in files if path.suffix == ".md" and not path.is_relative_to(HERE) and ".ci" not in path.parts]
    names = api_names()
    sources = set()

    def copied(page, text):
        def rewrite(match):
            label, target, anchor, title = match[1], match[2], match[3] or "", match[4]
            if not target or re.match(r"[a-z+]+:", target):
                return match[0]
            path = (page.parent / target).resolve()
            if path.suffix in (".svg", ".png"):
                into = PAGES / path.relative_to(ROOT)
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, into)
            elif path.is_dir() and path.exists():
                sources.add(path)
                return f"{label}({target.rstrip('/')}/index.md{title})"
            elif path.suffix != ".md" and path.exists():
                sources.add(path)
                return f"{label}({target}.md{title})"
            return match[0]

        to_root = "../" * len(page.relative_to(ROOT).parent.parts)
        into = PAGES / page.relative_to(ROOT)
        into.parent.mkdir(parents=True, exist_ok=True)
        parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.M | re.S)
        parts[::2] = [LINK.sub(rewrite, part) for part in parts[::2]]
        text = "".join(parts)
        if str(page.relative_to(ROOT)) in SEARCHED_BY_ROW:
            text = with_row_anchors(text)
        into.write_text(text if page.name == "CHANGELOG.md" else with_api_links(text, names, to_root))

    shutil.copytree(REFERENCE / "html", PAGES / "api")
    for page in markdown:
        copied(page, page.read_text())
    copied(ROOT / "api.md", (HERE / "api.md.in").read_text())
    for folder in [path for path in sources if path.is_dir()]:
        sources.update(path for path in folder.iterdir() if path.suffix in LANGUAGES)
    for path in sources:
        into = PAGES / path.relative_to(ROOT)
        into = into / "index.md" if path.is_dir() else into.with_name(into.name + ".md")
        into.parent.mkdir(parents=True, exist_ok=True)
        into.write_text(source_page(path))
    return {str(path.relative_to(PAGES)) for path in PAGES.rglob("*.md")} - {str(page.relative_to(ROOT)) for page in markdown} - {"api.md"}


def check_menu():
    """A reader finds every document in the menu."""
    menu = (HERE / "mkdocs.yml").read_text()
    missing = [str(path.relative_to(ROOT)) for path in tracked()
               if path.suffix == ".md" and path.is_relative_to(ROOT / "docs") and not path.is_relative_to(HERE)
               and f" docs/{path.relative_to(ROOT / 'docs')}\n" not in menu]
    if missing:
        sys.exit(f"not in the menu of docs/site/mkdocs.yml: {', '.join(missing)}")


def run_mkdocs(source_pages):
    environment = os.environ | {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}  # for anchor_of()
    done = subprocess.run(["mkdocs", "build", "--config-file", HERE / "mkdocs.yml"], env=environment, text=True,
                          capture_output=True)
    if done.returncode != 0 :
        sys.exit("\n".join(line for line in (done.stdout + done.stderr).splitlines() if "INFO" not in line))
    shutil.copy(HERE / "from_disk.js", SITE / "search")
    # A reader searches the guides, not the programs.
    found = json.loads((SITE / "search/search_index.json").read_text())
    found["docs"] = [each for each in found["docs"] if each["location"].split("#")[0].replace(".html", ".md") not in source_pages]
    found["docs"] += search_rows()
    index = json.dumps(found)
    (SITE / "search/search_index.json").write_text(index)
    print(f"{len(found['docs'])} sections in the search index")
    (SITE / "search/search_index.js").write_text(f"var __search = {{index: Promise.resolve({index})}};\n")
    playground = BUILD / "playground"
    if (playground / "index.html").exists():
        shutil.copytree(playground, SITE / "playground", dirs_exist_ok=True)


# ---- the links


class Links(html.parser.HTMLParser):
    """Targets and anchors of one page."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value is not None:
                self.targets.append(value)


def check_links():
    """Every link leads to an existing file and anchor, and none but those that a reader clicks leave the site."""
    pages = {}
    for path in SITE.rglob("*.html"):
        if path.is_relative_to(SITE / "playground"):
            continue
        pages[path.resolve()] = links = Links()
        links.feed(path.read_text(errors="replace"))
    wrong, count = [], 0
    for page, links in pages.items():
        for target in links.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            count += 1
            path = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            path = path / "index.html" if path.is_dir() else path
            if not path.exists():
                wrong.append(f"{page.relative_to(SITE)}: {target} is not there")
            elif page.is_relative_to(SITE / "api"):
                continue  # Doxygen's own anchors
            elif parts.fragment and path in pages and urllib.parse.unquote(parts.fragment) not in pages[path].anchors:
                wrong.append(f"{page.relative_to(SITE)}: {target} has no such heading")
    if wrong:
        sys.exit(f"{len(wrong)} dead links:\n" + "\n".join(sorted(set(wrong))[:60]))
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    print(f"{len(pages)} pages, {count} links, {size / 1e6:.1f} MB")


def main():
    check_menu()
    source_pages = copy_pages()
    shutil.rmtree(SITE, ignore_errors=True)
    run_mkdocs(source_pages)
    check_links()


if __name__ == "__main__":
    main()
