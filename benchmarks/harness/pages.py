# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Pages of docs/measurements/ that have a section of results for each processor.

import re
import shutil

from .commands import marks

_, END = marks("")


def put_section(page, processor, results, tables):
    """The last results as the section of a processor, which is made where there is none. Tables go into the folder beside
    the page, under the processor's name, and all but the first under their own names after it."""
    if not re.fullmatch(r"[a-z0-9-]+", processor):
        raise SystemExit(f"expected a processor's name in small letters and digits, such as zen4, but got '{processor}'")
    title = f"## Results: {processor}"
    text = re.sub(r"^### ", "#### ", results.read_text(), flags=re.MULTILINE)
    section = f"{title}\n\n{text}\n"
    head, rest = page.read_text().split(END)[0], page.read_text().split(END)[1]
    if title in head:
        before, after = head.split(title)
        following = after.find("\n## Results: ")
        head = before + section + (after[following + 1:] if following >= 0 else "")
    else:
        head += section
    page.write_text(f"{head}{END}{rest}")
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for index, table in enumerate(tables):
        shutil.copy(table, folder / f"{processor}{f'-{table.stem}' if index else ''}{table.suffix}")
