# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_links.py FOLDER: fails where a page below the folder links to a file, or to a place of a page, that is not there, or uses a
# name of a link that it does not define. Links to the web are left alone. Folders of a build are left out.
import functools
import os
import re
import sys

FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\"|^\[[^]]+\]: (\S+)$", re.M)


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


def check_names(page):
    """Links by a name, `[name]` without anything after it, on the pages that define some: each has its place, each is used."""
    text = re.sub(r"`[^`\n]*`", "", read(page))
    names = set(re.findall(r"^\[([^]]+)\]: ", text, re.M))
    used = set(re.findall(r"\[([\w-]+)\](?![(:])", text)) if names else set()
    for name in sorted(names ^ used):
        yield f"{page}: expected '[{name}]' to be used and to have a place, but it {'has none' if name in used else 'is not used'}"


def check(page):
    yield from check_names(page)
    for groups in LINK.findall(read(page)):
        link = "".join(groups)
        if re.match(r"[a-z]+:", link):
            continue
        file, _, place = link.partition("#")
        target = os.path.join(os.path.dirname(page), file) if file else page
        if not os.path.exists(target):
            yield f"{page}: expected a file at the link '{link}', but there is none"
        elif place and target.endswith(".md") and place not in places_of(target):
            yield f"{page}: expected a place '{place}' at the link '{link}', but there is none"


def pages(folder):
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "build")) and name != "Output")
        yield from (os.path.join(path, name) for name in sorted(files) if name.endswith(".md"))


found = list(pages(sys.argv[1]))
mistakes = [mistake for page in found for mistake in check(page)]
sys.exit("\n".join(mistakes) if mistakes else 0 if found else "expected pages, but got none")
