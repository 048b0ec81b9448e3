# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_links.py FOLDER: fails where a page below the folder links to a file, or to a place of a page, that is not there. Links to the
# web are left alone. Folders of a build are left out.
import functools
import os
import re
import sys

FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\"")


def read(path):
    with open(path, encoding="utf-8") as file:
        return FENCE.sub("", file.read())


@functools.lru_cache(None)
def places_of(path):
    """The anchors of a page: those it sets, and those of its headings as GitHub makes them."""
    text = read(path)
    places = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.*)$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        places.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return places


def check(page):
    for groups in LINK.findall(read(page)):
        link = "".join(groups)
        if re.match(r"[a-z]+:", link):
            continue
        file, _, place = link.partition("#")
        target = os.path.join(os.path.dirname(page), file) if file else page
        if not os.path.exists(target):
            yield f"{page}: expected a file behind the link '{link}', but there is none"
        elif place and target.endswith(".md") and place not in places_of(target):
            yield f"{page}: expected a place '{place}' behind the link '{link}', but there is none"


def pages(folder):
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "build")) and name != "Output")
        yield from (os.path.join(path, name) for name in sorted(files) if name.endswith(".md"))


found = list(pages(sys.argv[1]))
mistakes = [mistake for page in found for mistake in check(page)]
sys.exit("\n".join(mistakes) if mistakes else 0 if found else "expected pages, but got none")
