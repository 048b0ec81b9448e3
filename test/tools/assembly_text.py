# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Splits the assembly and the PTX that residc writes into functions whose text is the same for equal code: local labels are
# numbered by their first use, a constant stands for its label, and a local function for its name.

import hashlib
import re

# Local functions that only check arguments, refuse, describe or register: they belong to entries.
BOUNDARY = re.compile(r"\.refuse|\.arrays_|[._]dl_|__dl$|__info$|\.flush_line$|\.write_lines$|\.ask_caches$|^resid_cpu_choice$")
LABEL = re.compile(r"[\w.$@]*[\w$]")
FUNCTION = re.compile(r"^\s*\.type\s+([^,\s]+),\s*[@%]function$")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def split_assembly(text):
    """(functions, data, exported): lines by name of functions and of labelled data, and the names that are exported."""
    functions, data, exported = {}, {}, set()
    body, block = None, None
    for line in text.splitlines():
        start = FUNCTION.match(line)
        if start:
            body = functions.setdefault(start[1], [])
        elif body is not None:
            if re.match(r"\s*\.size\s", line):
                body = None
            elif line.strip():
                body.append(line.strip())
        elif line.startswith(("\t.globl", "\t.weak")):
            exported.add(line.split()[1])
        elif re.match(r"[\w.$]+:", line):
            block = data.setdefault(line.split(":")[0], [])
        elif re.match(r"\s*\.(section|text|data|bss)\b", line):
            block = None
        elif block is not None and re.match(r"\s*\.(byte|short|hword|long|word|quad|xword|zero|space|ascii|asciz|octa)\b", line):
            block.append(line.strip())
    return functions, data, exported


def number_labels(lines, is_local, name_data):
    """The lines with local labels numbered by first use, and data by what it holds."""
    numbers = {}

    def name(match):
        word = match[0]
        if is_local(word):
            return f".L{numbers.setdefault(word, len(numbers))}"
        return name_data(word)

    return [LABEL.sub(name, line) for line in lines]


def describe_data(name, data):
    """A word for a constant: its directives where they are few, else a hash of them."""
    text = " ".join(data[name])
    return f"<{text}>" if len(text) < 60 else f"<data {digest(text)[:12]}>"


def read_assembly(text, entries):
    """The functions of one assembly text by name. Without `entries`, those that do the work."""
    functions, data, exported = split_assembly(text)
    found = {}
    for name, lines in functions.items():
        if not entries and (name in exported or BOUNDARY.search(name)):
            continue
        body = [line for line in lines if line != f"{name}:"]
        # A table of jumps holds labels of this function: it is read as a part of it.
        tables = [word for word in dict.fromkeys(re.findall(r"\.LJTI\w+", "\n".join(body))) if word in data]
        body += [f"{table}: {line}" for table in tables for line in data[table]]
        local = re.compile(r"\.L(BB|func_end|func_begin|tmp|JTI)\w*$")
        found[name] = number_labels(body, local.match, lambda word: describe_data(word, data) if word in data else drop_number(word, functions))
    return found


def drop_number(word, functions):
    """A local function's name without the number that makes it unlike others; the order of functions gives it."""
    return re.sub(r"_\d+$", "", word) if word in functions else word


def read_ptx(text):
    """The kernels, functions and the head of one PTX text by name."""
    text = re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)
    parts = re.split(r"^(?=(?:\.visible |\.weak |\.extern )*\.(?:entry|func)\b)", text, flags=re.MULTILINE)
    head = sorted(filter(None, parts[0].splitlines()))
    found = {"(head)": [re.sub(r"_\d+(?=\W|_)", "_#", line) for line in head]}
    for part in parts[1:]:
        signature = re.match(r"[^\n]*?\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", part)
        name = signature[1]
        lines = [line.strip().replace(name, "(name)") for line in part.splitlines() if line.strip()]
        local = re.compile(r"\$L\w+$")
        found[name] = number_labels(lines, local.match, lambda word: re.sub(r"__(\w+?)_\d+(?=\b|_)", r"__\1", word))
    return found


def count_functions(text):
    """How many functions stand in a text of either kind, entries left out where they are known by their names."""
    names = re.findall(r"^\s*\.type\s+([^,\s]+),\s*[@%]function$", text, re.MULTILINE)
    exported = set(re.findall(r"^\t\.globl\s+(\S+)", text, re.MULTILINE))
    if names:
        return sum(name not in exported and not BOUNDARY.search(name) for name in names)
    return len(re.findall(r"^(?:\.visible )?\.(?:entry|func)\b", text, re.MULTILINE))
