# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The messages that the tests provoke, as their expectations have them: expected-error and its like in .mlir files, lines of
# FileCheck with `error:` and its like, and the unit tests of .npy files.
# Owns: reading tests. Does not own: the page made of the messages (page.py), the messages of the sources (unprovoked.py).
import os
import re
from dataclasses import dataclass

SEVERITIES = ("error", "warning", "remark", "note")


@dataclass(frozen=True)
class Message:
    test: str  # the file, below the folder of the tests
    severity: str
    text: str  # without place and severity; `…` for what the test leaves open
    tool: str = ""  # of messages that name no place in a program
    exit: str = ""  # the exit code, where the test looks at it


ANNOTATION = re.compile(r"expected-(error|warning|remark|note)(?:-re)?[^{\n]*\{\{(.*?)\}\}(?=\s*$)", re.M)
RUN = re.compile(r"RUN:(.*)")
CHECK = re.compile(r"^[/#;\s]*([A-Za-z0-9_-]+?)(?:-NEXT|-SAME|-DAG)?:\s(.*\b(error|warning|remark): .*)$", re.M)
UNIT = re.compile(r'EXPECT_EQ\(errorOf\([^;]*?"(expected[^"\n]*)"\);')
OPEN = re.compile(r"\{\{.*?\}\}|\[\[.*?\]\]")


def commands(text):
    """The RUN lines, with those that go on after a backslash joined."""
    lines, joined = [], ""
    for part in RUN.findall(text):
        joined += part.strip()
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        lines.append(joined)
        joined = ""
    return lines


def exit_codes(text):
    """The exit code per prefix of FileCheck, where its command is run for one and all its commands end with the same."""
    codes = {}
    for command in commands(text):
        code = re.search(r"expect_exit\.py\s+(\d+)", command)
        for prefix in re.findall(r"--?check-prefix(?:es)?=([\w,-]+)", command):
            for name in prefix.split(","):
                codes.setdefault(name, set()).add(code.group(1) if code else "")
    return {prefix: "".join(found) for prefix, found in codes.items() if len(found) == 1}


def read_checks(test, text):
    codes = exit_codes(text)
    for prefix, line, severity in CHECK.findall(text):
        if prefix.startswith("expected-") or prefix == "RUN" or prefix.endswith("-NOT"):
            continue
        line = OPEN.sub("…", line)
        place, _, said = line.partition(severity + ": ")
        if not any(char.isalpha() for char in said.split("…")[0]):
            continue  # the test names the severity and a word of the text only
        tool = re.match(r"(resid[\w-]*…?|…+):", place.strip())
        tool = "" if not tool or re.search(r"\.mlir|…:…", place) else tool.group(1)
        tool = "any tool" if "…" in tool else tool
        if place.rstrip().endswith("internal"):
            said = "internal error: " + said
        yield Message(test, severity, said.strip(), tool, codes.get(prefix, ""))


def read_test(folder, test):
    with open(os.path.join(folder, test), encoding="utf-8") as file:
        text = file.read()
    if test.endswith(".cpp"):
        for said in UNIT.findall(text):
            yield Message(test, "error", said, "resid-run", "3")
        return
    for severity, said in ANNOTATION.findall(text):
        yield Message(test, severity, OPEN.sub("…", said))
    yield from read_checks(test, text)


def read_tests(folder):
    """The messages of all tests below `folder`, in an order that depends on names only."""
    found = []
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("Inputs", "cases", "Output", "diagnostics"))
        for name in sorted(files):
            test = os.path.relpath(os.path.join(path, name), folder).replace(os.sep, "/")
            if name.endswith((".mlir", ".test")) or test == "unit/Npy.cpp":
                found += read_test(folder, test)
    return found
