# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What mkdocs does not know of the pages: their order, which docs/README.md has; pages that lie outside of docs/; files of the
# repository that are no pages, whose links become their names; and the colours of MLIR.

import pathlib
import re

import mlir_lexer
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Pages outside of docs/, by their place in the repository.
OUTSIDE = {"README.md": "overview.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md",
           "examples/README.md": "examples.md"}
API = "python-api.md"
STYLE = "style.css"


def make_anchor(title, separator):
    """The anchor of a heading, as sites that show repositories make it: what links in docs/ are written for."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", separator)


def list_public_modules():
    """The modules of the Python package that users import."""
    package = ROOT / "python/resid"
    names = ["resid"] + sorted(f"resid.{path.parent.name}" for path in package.glob("*/__init__.py"))
    return [name for name in names if "._" not in name]


def on_config(config):
    """The lexer of MLIR, and the order of pages: the sections of docs/README.md."""
    mlir_lexer.register()
    navigation, section = [{"Overview": OUTSIDE["README.md"]}, {"All pages": "README.md"}], None
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        heading, entry = re.match(r"## (.+)", line), re.match(r"- \[([^\]]+)\]\(([^)#]+)\)", line)
        if heading:
            section = []
            navigation.append({heading[1]: section})
        elif entry and section is not None:
            section.append({entry[1]: OUTSIDE.get(entry[2].removeprefix("../"), entry[2])})
    for group in navigation:
        if "Reference" in group and (ROOT / "python/resid").is_dir():
            group["Reference"].append({"The Python package": API})
    navigation.append({"Changelog": OUTSIDE["CHANGELOG.md"]})
    config.nav = navigation
    return config


def on_files(files, config):
    for source, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text()))
    files.append(File.generated(config, STYLE, content=(ROOT / "site" / STYLE).read_text()))
    if (ROOT / "python/resid").is_dir():
        modules = "\n\n".join(f"::: {name}" for name in list_public_modules())
        files.append(File.generated(config, API, content=f"# The Python package\n\n{modules}\n"))
    return files


def find_file(source, target):
    """The place in the site of the file that a link means; nothing where the site does not have it."""
    path = (source.parent / target).resolve()
    if path.is_dir() and (path / "README.md").is_file():
        path /= "README.md"
    if not path.is_relative_to(ROOT):
        return None
    place = path.relative_to(ROOT)
    if str(place) in OUTSIDE:
        return OUTSIDE[str(place)]
    return str(place.relative_to("docs")) if place.parts[0] == "docs" and path.is_file() else None


def part_lists(markdown):
    """Puts an empty line before each list, and four columns before a list in a list: sites that show repositories need less."""
    lines, is_code = [], False
    for line in markdown.split("\n"):
        line = line if is_code else re.sub(r"^ {2,3}(?=[-*] |\d+\. )", "    ", line)
        is_item = re.match(r"(?:[-*]|\d+\.) ", line)
        if is_item and not is_code and lines and re.match(r"(?![-*] |\d+\. |#|\|)\S", lines[-1]):
            lines.append("")
        is_code ^= line.lstrip().startswith("```")
        lines.append(line)
    return "\n".join(lines)


def on_page_markdown(markdown, page, config, files):
    """Links to files that the site has lead there; others become their text."""
    markdown = part_lists(markdown)
    outside = {place: source for source, place in OUTSIDE.items()}
    source = ROOT / outside.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    up = "../" * (len(pathlib.PurePosixPath(page.file.src_uri).parts) - 1)

    def resolve(target):
        if re.match(r"[a-z]+:", target):
            return target
        path, _, anchor = target.partition("#")
        place = find_file(source, path) if path else page.file.src_uri
        return f"{up}{place}{'#' + anchor if anchor else ''}" if place else None

    def rewrite_link(link):
        target = resolve(link[3])
        return f"{link[1]}[{link[2]}]({target})" if target else link[2]

    dropped = set()

    def rewrite_definition(definition):
        target = resolve(definition[2])
        if not target:
            dropped.add(definition[1])
        return f"[{definition[1]}]: {target}" if target else ""

    text = r"((?:[^\[\]]|\[[^\]]*\])*)"
    markdown = re.sub(rf"(!?)\[{text}\]\(([^)\s]+)\)", rewrite_link, markdown)
    markdown = re.sub(r"^\[([^\]]+)\]: (\S+)$", rewrite_definition, markdown, flags=re.MULTILINE)
    markdown = re.sub(r"\[([^\[\]]+)\]\[([^\]]+)\]", lambda link: link[1] if link[2] in dropped else link[0], markdown)
    return re.sub(r"\[([^\[\]]+)\](?![(\[:])", lambda link: link[1] if link[1] in dropped else link[0], markdown)
