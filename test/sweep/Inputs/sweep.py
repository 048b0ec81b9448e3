# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes programs of every op with sizes 0, 1 and a few more, static and open, and the calls to check them by, for
# resid-sweep. Ends with an error where an op of the dialect has no program in programs.mlir.
# Usage: sweep.py PROGRAMS DIALECT_PAGES [STEP [START]]: one of STEP programs, from number START on; of each op one at least

import itertools
import os
import random
import re
import sys

ELEMENTS = ["f32", "bf16", "f16", "f64"]
PARAMETERS = {"f32": ["f32", "bf16", "f16"], "bf16": ["bf16", "f32"], "f16": ["f16", "f32"], "f64": ["f64", "f32", "bf16"]}
SIZES = [0, 1, 2, 3, 8, 17]
# Of each kind of sizes that is drawn, how many.
STATIC, MIXED, OPEN = 5, 2, 10
# Values of arguments by name; other floats are normal, other integers 7.
VALUES = {"labels": "0", "ids": "0", "ignored": "-100", "variance": "1.5", "sum": "2", "past": "0", "column": "8", "n": "3",
          "mask": "random:5", "integers": "random:6%256", "bytes": "random:7%256", "a": "0.3", "b": "-1.7", "c": "0.6"}


def size_of(text, sizes):
    """A size, or a sum of some, as it is written in a type."""
    numbers = [sizes.get(size, size) for size in text.split("+")]
    return "?" if any(not str(number).isdigit() for number in numbers) else str(sum(map(int, numbers)))


class Template:
    """A function with sizes and types left out."""

    def __init__(self, notes, text):
        self.text = text
        self.name = re.match(r"func\.func @(\w+)", text).group(1)
        self.arguments = re.findall(r"%(\w+): ([^,{}()]+)", text[: re.search(r"\)\s*->", text).start()])
        self.ops = set(re.findall(r"resid\.(\w+)", text))
        shapes = "x".join(re.findall(r"tensor<([^>]*)x[^x>]*>", text))
        self.letters = sorted(set(re.findall(r"[A-Z]", shapes)))
        self.static = re.findall(r"[A-Z]", (re.findall(r"static ([A-Z, ]+)", notes) or [""])[0])
        self.condition = (re.findall(r"where ([^;\n]+)", notes) or ["True"])[0]
        self.elements = (re.findall(r"types ([\w, ]+)", notes) or [", ".join(ELEMENTS)])[0].split(", ")

    def allows(self, sizes):
        return eval(self.condition, dict(sizes))  # pylint: disable=eval-used

    def draw(self, generator, known=()):
        """Sizes that make a program and are not known yet, or none."""
        for _ in range(50):
            sizes = {letter: generator.choice(SIZES) for letter in self.letters}
            if self.allows(sizes) and sizes not in known:
                return sizes
        return None

    def write(self, number, written, element, parameter):
        """The function with the `written` sizes, where those that are not there are open."""
        types = {"!T": element, "!P": parameter, "!W": "f64" if element == "f64" else "f32"}
        text = re.sub(r"tensor<([^>]*)x([^x>]*)>", lambda match: "tensor<" + "x".join(
            size_of(size, written) for size in match.group(1).split("x")) + f"x{match.group(2)}>", self.text)
        text = re.sub(r"![TPW]", lambda match: types[match.group(0)], text)
        return text.replace("@" + self.name + "(", f"@{self.name}_{number}(", 1), types

    def call(self, sizes, types, seed):
        """The values of the arguments for the sizes of one call."""
        words = []
        for index, (name, kind) in enumerate(self.arguments):
            kind = re.sub(r"![TPW]", lambda match: types[match.group(0)], kind.strip())
            tensor = re.fullmatch(r"tensor<(?:(.*)x)?(\w+)>", kind)
            if not tensor:
                words.append(VALUES.get(name, "7"))
                continue
            shape = "x".join(size_of(size, sizes) for size in tensor.group(1).split("x")) if tensor.group(1) else ""
            isFloat = "f" in tensor.group(2)
            value = VALUES.get(name, "") if len(name) > 1 else ""
            words.append(f"{tensor.group(2)}[{shape}]={value or (f'random:{seed + index}' if isFloat else '0')}")
        return " ".join(words)


def read(path):
    text = open(path, encoding="utf-8").read()
    return [Template(notes, body) for notes, body in re.findall(r"((?://[^\n]*\n)*)(func\.func @.*?\n}\n)", text, re.S)]


def variants(template, generator):
    """What is written out and what sizes it is called with: all of 0 and 1, and a few others."""
    edges = [dict(zip(template.letters, sizes)) for sizes in itertools.product((0, 1), repeat=len(template.letters))]
    edges = [sizes for sizes in edges if template.allows(sizes)]
    drawn = []
    for _ in range(STATIC + OPEN):
        sizes = template.draw(generator, edges + drawn)
        drawn += [sizes] if sizes else []
    result = [(sizes, [sizes]) for sizes in edges + drawn[:STATIC]]
    isOpen = [letter for letter in template.letters if letter not in template.static]
    if not isOpen:
        return result
    groups = {}
    for sizes in edges + drawn:
        groups.setdefault(tuple(sizes[letter] for letter in template.static), []).append(sizes)
    for group in groups.values():
        result.append(({letter: group[0][letter] for letter in template.static}, group))
    for _ in range(MIXED if len(isOpen) > 1 else 0):
        chosen = generator.choice(edges + drawn)
        left = generator.sample(isOpen, generator.randrange(1, len(isOpen)))
        written = {letter: size for letter, size in chosen.items() if letter not in left}
        calls = [sizes for sizes in edges + drawn if all(sizes[letter] == size for letter, size in written.items())]
        result.append((written, calls))
    return result


def main():
    programs, pages, *numbers = sys.argv[1:]
    step, start = (int(numbers[0]) if numbers else 1), (int(numbers[1]) if len(numbers) > 1 else 0)
    templates = read(programs)
    known = {os.path.splitext(page)[0] for page in os.listdir(pages)} - {"README"}
    missing = known - set().union(*(template.ops for template in templates))
    if missing:
        sys.exit(f"expected a program in {os.path.basename(programs)} for every op of the dialect, but there is none with "
                 + ", ".join("resid." + op for op in sorted(missing)))
    for template in templates:
        generator, functions = random.Random(template.name), []
        for element in template.elements:
            parameters = PARAMETERS[element]
            for count, (written, calls) in enumerate(variants(template, generator)):
                isEdge = len(calls) == 1 and set(calls[0].values()) <= {0, 1}
                used = parameters if isEdge and "!P" in template.text else [parameters[count % len(parameters)]]
                functions += [(written, calls, element, parameter) for parameter in used]
        chosen = range(start % step, len(functions), step) or [start % len(functions)]
        for number in chosen:
            written, calls, *elements = functions[number]
            text, types = template.write(number, written, *elements)
            for index, sizes in enumerate(calls):
                print(f"// call: {template.name}_{number} {template.call(sizes, types, 10 * index)}")
            print(text)


main()
