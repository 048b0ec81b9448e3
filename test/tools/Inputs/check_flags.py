# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that each flag of tools/flags/TOOL.td stands in the help of the tool, in its man page, in its completions, and in
# its section of docs/tools.md; and that resid-opt, which parses by other means, takes those of its table. Arguments: the
# source folder, the build folder and the folder of LLVM's tools.

import json
import pathlib
import re
import subprocess
import sys

TOOLS = ["residc", "resid-run", "resid-tune", "resid-reduce", "resid-lsp-server", "resid-opt"]


def records_of(file, source, llvm):
    """What a TableGen file defines."""
    include = subprocess.run([llvm / "llvm-config", "--includedir"], capture_output=True, text=True, check=True)
    table = subprocess.run([llvm / "llvm-tblgen", "--dump-json", "-I", source, "-I", include.stdout.strip(), source / file],
                           capture_output=True, check=True)
    return json.loads(table.stdout)


def flags_of(tool, source, llvm):
    """The flags of the table that have a help text, as they are typed."""
    records = records_of(pathlib.Path("tools/flags") / (tool + ".td"), source, llvm)
    options = [records[name] for name in records["!instanceof"]["Option"]]
    return [option["Prefixes"][0] + option["Name"] for option in options if option["HelpText"]]


def places_of(tool, source, build):
    pages = build / "tools/flags/pages/pages"
    text = subprocess.run([build / "bin" / tool, "--help"], capture_output=True, text=True, check=True).stdout
    documentation = (source / "docs/tools.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {tool}\n(.*?)(?=^## |\Z)", documentation, re.MULTILINE | re.DOTALL)
    # What all tools have stands before the sections of the tools.
    common = re.split(rf"^## (?:{'|'.join(TOOLS)})$", documentation, maxsplit=1, flags=re.MULTILINE)[0]
    return {
        "the help": text,
        "the man page": (pages / "man" / (tool + ".1")).read_text(encoding="utf-8").replace("\\-", "-"),
        "what bash completes": (pages / "bash" / tool).read_text(encoding="utf-8"),
        "what zsh completes": (pages / "zsh" / ("_" + tool)).read_text(encoding="utf-8"),
        "what fish completes": re.sub(r" -l (\S+)", r" --\1", re.sub(
            r" -s (\S+)", r" -\1", (pages / "fish" / (tool + ".fish")).read_text(encoding="utf-8"))),
        "docs/tools.md": common + (section.group(1) if section else ""),
    }


def stands_in(flag, text):
    return re.search(rf"(?<![\w-]){re.escape(flag.rstrip('='))}(?![\w-])", text.replace("\\fB", " ")) is not None


source, build, llvm = (pathlib.Path(argument) for argument in sys.argv[1:])
missing, count = [], 0
for tool in TOOLS:
    flags = flags_of(tool, source, llvm)
    count += len(flags)
    for place, text in places_of(tool, source, build).items():
        missing += [f"{tool} {flag.rstrip('=')}: not in {place}" for flag in flags if not stands_in(flag, text)]
    if tool == "resid-opt":
        # Upstream's own list has all flags that are parsed.
        parsed = subprocess.run([build / "bin" / tool, "--help-hidden"], capture_output=True, text=True, check=True).stdout
        missing += [f"{tool} {flag}: not parsed" for flag in flags if not stands_in(flag, parsed)]
print("\n".join(missing) if missing else f"{count} flags of {len(TOOLS)} tools are everywhere")
sys.exit(1 if missing else 0)
