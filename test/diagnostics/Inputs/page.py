# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# page.py FOLDER-OF-THE-TESTS EXPLANATIONS PAGE: writes docs/diagnostics.md, every message that the tests provoke, by who gives it.
# EXPLANATIONS holds paragraphs: a piece of a message, then on indented lines its cause and mend. A piece that no message has is an
# error, so none outlives its message.
# Owns: the order and the text of the page. Does not own: reading tests (provoked.py).
import contextlib
import io
import re
import sys
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache

from provoked import SEVERITIES, read_tests

INTRODUCTION = """\
<!-- Made by `ninja update-diagnostics` from the tests and test/diagnostics/Inputs/explanations.txt; a test compares. -->
# Diagnostics

**Reference** · [all pages](README.md)

This page lists every message that the tests of resid provoke, sorted by who gives it. Where the message alone does not say enough, its cause and the way out stand below it.
`…` stands for text that differs from case to case. Some messages differ only in a name, a number or a type. Of those, the page shows one as an example.
[Errors and exit codes](errors.md) says what the exit codes mean.

A message about a program reads `file:line:col: error: …`. It ends the run with exit code 1, unless the page names another code beside it. Warnings and remarks do not end
a run; `residc --werror` turns warnings into errors. A note belongs to the message before it, and names another place.
"""

SECTIONS = {
    "any tool": "Any tool\n\nAn `internal error` is a mistake in resid. The exit code is 70, and the tool writes a file that shows the mistake again. Please send that file with a report "
    "([reproducers](tools.md#reproducers)).",
    "residc": "residc",
    "resid-run": "resid-run",
    "resid-opt": "resid-opt",
    "resid-lsp-server": "resid-lsp-server",
    "mlir-opt": "mlir-opt with the plug-in",
    "resid-tune": "resid-tune",
    "resid-reduce": "resid-reduce",
    "resid-random-programs": "resid-random-programs",
    "text": "Programs\n\nGiven by every tool that takes a program, before the stages below.",
    "dialect": "Ops of the dialect\n\nThe ops that give a message stand after it. In the output, a message begins with the op's name, as in "
    "`'resid.add' op expected …`.",
    "compile": "Compiling functions\n\n`residc` and `resid-run` give these, and so does `resid-opt` where it runs these stages. The exit code of "
    "the first two is 1 where the program is at fault, and 4 where it is valid but not available.",
    "reference": "The reference evaluator\n\nGiven by `resid-run --backend=reference` and `--check`, with the place in the program.",
    "passes": "Passes\n\nA pass gives an error if it was asked for one thing and cannot do it. A remark says what a pass changed, or what it left "
    "as it was, and why. Most passes give remarks with their option `report=true`.",
    "inside": "Inside of the compiler\n\nThese messages are about programs in the dialect `rows`, which the compiler makes for itself. They occur only if you "
    "write such programs by hand, for `resid-opt`.",
}
INSIDE = ("codegen/rows-", "codegen/form-kernels-invalid", "codegen/cpu-lower-kernels", "codegen/cpu-require")


@lru_cache(None)
def place_of(message):
    """The section of a message, and the op or pass under which it stands there."""
    folder, _, name = message.test.partition("/")
    stem = name.rsplit(".", 1)[0]
    if message.text.startswith("internal error: "):
        return "any tool", ""
    if message.tool:
        return message.tool if message.tool in SECTIONS else "any tool", ""
    if stem == "plugin":
        return "mlir-opt", ""
    if message.test.startswith(INSIDE) and not message.text.startswith("takes the scalar path"):
        return "inside", ""
    if stem in ("function-attributes-invalid", "undefined-attributes-invalid", "text-invalid"):
        return "text", ""
    if folder == "dialect":
        return "dialect", "resid." + stem.replace("-invalid", "").replace("-", "_")
    if folder == "passes" and stem.startswith("resid-"):
        return "passes", re.sub(r"-(refuse|sites|final-norm|complete|readers|manifest|shift|back|keep|drop|loop)\b", "", stem)
    if folder == "reference":
        return "reference", ""
    return ("compile", "") if folder in ("codegen", "embed") else ("text", "")


NAMES = "arith|math|tensor|linalg|func|scf|resid|llvm"
PLACEMENTS = r"\b(?:post_shifted|branch_post|post|pre|peri|none)\b"


@lru_cache(None)
def key_of(text):
    """What messages have in common that differ in a name, a number or a type only."""
    text = re.sub(r"'[^']*'|\[[^]]*\]|\btensor<\S*>", "X", text)
    text = re.sub(rf"\b(?:{NAMES})\.\w+", "OP", re.sub(PLACEMENTS, "P", text))
    text = re.sub(r"-?\b\d[\d.e+-]*", "N", text)
    return re.sub(r"(but got (?:one of kind )?)\w+$", r"\1X", text)


def strip_op(text):
    return re.sub(r"^'[\w.]+' op ", "", text)


class Entry:
    def __init__(self):
        self.texts, self.owners, self.exits = set(), set(), set()

    def example(self):
        return min(self.texts, key=lambda text: (-len(key_of(text)), len(text), text))


def is_piece(text, whole):
    return text in whole or key_of(text).rstrip() in key_of(whole)


def complete(message, messages):
    """The message with the text of the longest one that it is a piece of; what tools print of a pass is the pass's message."""
    here = place_of(message)

    def is_better(other):
        there = place_of(other)
        if other.severity != message.severity or not is_piece(message.text, other.text):
            return False
        longer = len(key_of(message.text)) < len(key_of(other.text))
        if there[0] == here[0]:
            return longer
        return here[0] == "text" and there[0] in ("dialect", "compile", "passes", "reference")

    def rank(other):
        return place_of(other)[0] != "text", len(key_of(other.text)), other.text, other.test

    better = max(filter(is_better, messages), key=rank, default=None)
    if not better:
        return message
    return replace(message if place_of(better)[0] == here[0] else better, text=better.text, exit=message.exit)


def group(messages):
    """Per section and severity the entries by key; in `passes` one section per pass."""
    groups = defaultdict(lambda: defaultdict(Entry))
    for message in (complete(message, messages) for message in messages):
        section, owner = place_of(message)
        text = strip_op(message.text) if section == "dialect" else message.text
        entry = groups[(section, owner if section == "passes" else "", message.severity)][key_of(text)]
        entry.texts.add(text)
        entry.exits.add(message.exit)
        entry.owners |= {owner} if section == "dialect" else set()
    return groups


def read_explanations(path):
    with open(path, encoding="utf-8") as file:
        paragraphs = re.split(r"\n{2,}", file.read().strip())
    found = {}
    for paragraph in paragraphs:
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        if lines:
            found[lines[0]] = " ".join(line.strip() for line in lines[1:])
    return found


class Explanations:
    def __init__(self, path):
        self.texts, self.used = read_explanations(path), set()

    def of(self, entry):
        fitting = [piece for piece in self.texts if any(piece in text for text in entry.texts)]
        self.used.update(fitting)
        return self.texts[max(fitting, key=len)] if fitting else ""

    def unused(self):
        return sorted(set(self.texts) - self.used)


def print_entry(severity, entry, explanations):
    text = entry.example()
    quotes = "``" if "`" in text else "`"
    behind = [", ".join(f"`{owner}`" for owner in sorted(entry.owners))] if entry.owners else []
    codes = sorted(code for code in entry.exits if code)
    if severity == "error" and codes and codes != ["1"]:
        behind.append("exit code " + " or ".join(codes))
    print(f"- {quotes}{text}{quotes}" + (f" ({'; '.join(behind)})" if behind else ""))
    explanation = explanations.of(entry)
    if explanation:
        print(f"  <br>{explanation}")


def print_section(groups, section, owner, explanations):
    for severity in SEVERITIES:
        entries = groups.get((section, owner, severity))
        if not entries:
            continue
        print(f"\n**{severity.capitalize()}s**\n")
        for entry in sorted(entries.values(), key=Entry.example):
            print_entry(severity, entry, explanations)


def print_page(groups, explanations):
    print(INTRODUCTION, end="")
    for section, title in SECTIONS.items():
        owners = sorted({owner for found, owner, _ in groups if found == section})
        if owners:
            print(f"\n## {title}")
        for owner in owners:
            if owner:
                print(f"\n### {owner}")
            print_section(groups, section, owner, explanations)


def main():
    tests, explanations, page = sys.argv[1], Explanations(sys.argv[2]), io.StringIO()
    with contextlib.redirect_stdout(page):
        print_page(group(read_tests(tests)), explanations)
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write(page.getvalue())
    if explanations.unused():
        sys.exit(f"expected messages for all explanations, but got none with {explanations.unused()}")


main()
