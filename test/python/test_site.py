# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The site of the documents: it has every page, what is searched, and links that lead somewhere; it loads nothing from
# elsewhere; and a link that leads nowhere ends the build.

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import pytest

pytest.importorskip("material", reason="needs mkdocs-material (site/requirements.txt)")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(root, folder):
    environment = dict(os.environ, PYTHONPATH=str(root / "site"), NO_MKDOCS_2_WARNING="1")
    command = [sys.executable, "-m", "mkdocs", "build", "-f", root / "site/mkdocs.yml", "-d", folder]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


class Page(html.parser.HTMLParser):
    """The links and anchors of a page, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(value for name, value in attributes if name in ("id", "name") and value)
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "link") and found.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(found.get("src") or found.get("href"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_has_every_page(site):
    for page in ROOT.glob("docs/**/*.md"):
        place = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / place.with_name(place.name.replace("README", "index"))).is_file(), place
    for place in ("overview.html", "changelog.html", "contributing.html", "examples.html"):
        assert (site / place).is_file(), place


def test_is_searched(site):
    found = json.loads((site / "search/search_index.json").read_text())["docs"]
    assert any("rms_norm" in entry["title"] for entry in found)
    assert len(found) > 500


def test_links_lead_somewhere(site):
    pages = {path: Page(path) for path in site.glob("**/*.html")}
    count = 0
    for path, page in pages.items():
        for link in page.links:
            address = urllib.parse.urlparse(link)
            if address.scheme or path.name == "404.html":
                continue
            target = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.relative_to(site)}: {link}"
            if address.fragment and target.suffix == ".html":
                assert urllib.parse.unquote(address.fragment) in pages[target].anchors, f"{path.relative_to(site)}: {link}"
            count += 1
    assert count > 1000


def test_programs_have_colours(site):
    """The site has a lexer of MLIR: names, types and comments of each program are told apart."""
    page = (site / "gradients.html").read_text()
    for name, kind in (("resid.dropout", "nb"), ("@block", "nf"), ("tensor", "kt"), ("?x768xf32", "kt"), ("// block.mlir", "c1")):
        assert f'<span class="{kind}">{name}</span>' in page, name
    count = 0
    for path in site.glob("**/*.html"):
        for code in re.findall(r'<div class="language-mlir highlight">(.*?)</div>', path.read_text(), re.DOTALL):
            assert '<span class="kt">' in code or '<span class="nb">' in code, path
            count += 1
    assert count > 50


def test_lists_are_lists(site):
    """Also those that no empty line parts from the text before, and those in lists."""
    page = (site / "dialect/attention.html").read_text()
    assert page.count("<li>") > 30 and "<p><strong>Operands and results.</strong></p>\n<ul>" in page
    assert not re.search(r"<strong>Operands and results\.</strong> *- ", page)
    assert re.search(r"<li>(?:(?!</li>).)*<ul>\s*<li>m_c, the largest", (site / "numerics.html").read_text(), re.DOTALL)


def test_the_front_page_begins_with_pictures(site):
    page = (site / "overview.html").read_text()
    body = page[page.index("<article") :]
    before = re.sub(r"<[^>]+>", "", body[: body.index("speed.svg")])
    assert body.index("layer.svg") < body.index("speed.svg") < body.index("<h2") and len(before.split()) < 100


def test_loads_nothing_from_elsewhere(site):
    for path in site.glob("**/*.html"):
        assert not [place for place in Page(path).loaded if place and "//" in place], path


def test_refuses_a_link_that_leads_nowhere(tmp_path):
    for name in ("docs", "site", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.mlir", "*.svg.gz", "data"))
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    page = tmp_path / "docs/tutorial.md"
    page.write_text(page.read_text() + "\nSee [nothing](tools.md#not-there-at-all).\n")
    done = build(tmp_path, tmp_path / "built")
    assert done.returncode != 0 and "not-there-at-all" in done.stderr
