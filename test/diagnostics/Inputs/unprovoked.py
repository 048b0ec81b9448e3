# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# unprovoked.py ROOT: prints the messages of the sources that no test provokes, with their places. By hand: a message counts as
# provoked where one of its texts stands in an expectation, or an expectation in it.
# Owns: reading messages out of C++. Does not own: reading tests (provoked.py).
import os
import re
import sys

from provoked import OPEN

FOLDERS = ("dialect", "passes", "codegen", "diagram", "reference", "tools")
GIVES = re.compile(
    r"\b(?:emitError|emitOpError|emitRemark|emitWarning|createStringError|makeError|usageError|notAvailable|refuse|report|error|"
    r"expected|malformed|parseChoice|errs)\s*\(|refusals\.push_back\("
)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def statements(text):
    """What stands between two of `;`, `{`, `}` outside of literals, with the line where it begins."""
    start = line = 0
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[;{}]', text):
        if match.group() in ";{}":
            yield text.count("\n", 0, start) + 1, text[start : match.start()]
            start = match.end()


def messages(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for line, statement in statements(text):
        if GIVES.search(statement) and "#include" not in statement:
            pieces = [re.sub(r"\\(.)", r"\1", piece) for piece in LITERAL.findall(re.sub(r"//[^\n]*", "", statement))]
            pieces = [piece for piece in pieces if len(re.findall(r"[a-z]{2,}", piece)) >= 2]
            if pieces:
                yield line + statement[: len(statement) - len(statement.lstrip())].count("\n"), pieces


def expectations(root):
    found = []
    for path, folders, files in os.walk(os.path.join(root, "test")):
        folders[:] = [name for name in folders if name != "Inputs"]
        for name in files:
            if name.endswith((".mlir", ".test", ".cpp", ".py")):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    found.append(OPEN.sub("\0", file.read().replace("{{expected", "expected").replace("}}", "\n")))
    return "\n".join(found)


def main():
    root = sys.argv[1]
    said = expectations(root)
    for folder in FOLDERS:
        for path, _, files in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(files):
                if not name.endswith((".cpp", ".h")):
                    continue
                file = os.path.join(path, name)
                for line, pieces in messages(file):
                    longest = max(pieces, key=len)
                    if longest.strip() not in said and longest.strip()[:24] not in said:
                        print(f"{os.path.relpath(file, root)}:{line}: " + " … ".join(pieces))


main()
