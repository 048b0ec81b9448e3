# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs what a page of the documentation shows, in a folder of its own: a code block that begins with the comment
# `// NAME.mlir` or `// NAME.c` is that file; in a `console` block a line that begins with `$ ` is a command (a `\` at its end goes on in the
# next line), and the lines after it are what it must print. There `…` stands for anything in a line, and for any number of lines where it is
# alone. Commands must succeed unless they print an error. With --sh=PATTERN the commands of `sh` blocks that begin with the regular
# expression are run instead, and must succeed, whatever they print. Usage: run_document.py [--sh=PATTERN] PAGE FOLDER [FILE …]; the
# files are copied into the folder first.

import os
import re
import shutil
import subprocess
import sys


def code_blocks(page):
    """The language, the first line's number and the lines of every code block."""
    language, start, lines = None, 0, []
    for number, line in enumerate(page.split("\n"), 1):
        if language is None and line.startswith("```"):
            language, start, lines = line[3:], number, []
        elif line == "```":
            yield language, start, lines
            language = None
        else:
            lines.append(line)


def transcripts(lines):
    """The commands of a console block, each with the lines that it must print."""
    command, printed = None, []
    for line in lines:
        if command is not None and command.endswith("\\"):
            command = command[:-1] + line
        elif line.startswith("$ "):
            if command is not None:
                yield command, printed
            command, printed = line[2:], []
        else:
            printed.append(line)
    if command is not None:
        yield command, printed


def shell_commands(lines, pattern):
    """The commands of an `sh` block that begin with the pattern; they may print anything."""
    for command in re.sub(r"\\\n", "", "\n".join(lines)).split("\n"):
        if re.match(pattern, command):
            yield command, ["…"]


def matches(expected, found):
    """Whether the lines are the same, spaces at their ends aside."""
    if not expected:
        return not found
    if expected[0] == "…":
        return any(matches(expected[1:], found[i:]) for i in range(len(found) + 1))
    line = re.escape(expected[0].rstrip()).replace("…", ".*")
    return bool(found) and re.fullmatch(line, found[0].rstrip()) is not None and matches(expected[1:], found[1:])


def run(command, expected, folder, place):
    result = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    found = result.stdout.rstrip().splitlines()
    failed = result.returncode != 0 and not any("error:" in line for line in expected)
    if failed or not matches(expected, found):
        print(f"{place}: {command}: exit code {result.returncode}, expected\n", *expected, "\nbut got\n", *found, sep="\n")
        return False
    return True


pattern = sys.argv.pop(1).removeprefix("--sh=") if sys.argv[1].startswith("--sh=") else None
page, folder, *files = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
for file in files:
    shutil.copy(file, folder)
commands = failures = 0
with open(page, encoding="utf-8") as file:
    text = file.read()
for language, start, lines in code_blocks(text):
    name = re.fullmatch(r"// ([\w-]+\.(?:mlir|c))", lines[0]) if lines else None
    if name:
        with open(f"{folder}/{name.group(1)}", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    found = []
    if language == ("sh" if pattern else "console"):
        found = shell_commands(lines, pattern) if pattern else transcripts(lines)
    for command, expected in found:
        commands += 1
        failures += not run(command, expected, folder, f"{os.path.basename(page)}:{start}")
print(f"{commands} commands, {failures} failed")
sys.exit(1 if failures or not commands else 0)
