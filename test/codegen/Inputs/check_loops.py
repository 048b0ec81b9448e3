# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads x86-64 or aarch64 assembly of row functions (`…__rows`, `…__stream`, `…__rare`) and says, per function, what a
# change of compiler or emitter could lose without changing a bit: calls, those of rare branches apart; in the innermost
# loops on vectors, stores to the stack, horizontal steps and shuffles that widen 16-bit elements; how many horizontal
# reductions there are (each halves a register of 256 bits), and how many non-temporal stores.
# Usage: check_loops.py FILE.s

import re
import sys

FUNCTION = re.compile(r"^([\w.$]+__(?:rows|stream|rare\w*)):")
LABEL = re.compile(r"^(\.L\w+):")
JUMP = re.compile(r"^\s+(?:j\w+|b\.\w+|b|cbn?z \w+,|tbn?z \w+, #\d+,)\s+(\.L\w+)")
CALL = re.compile(r"^\s+(call\w*|blr?)\s+(?!\S+__rare)")
RARE_CALL = re.compile(r"^\s+(callq|bl)\s+\S+__rare")
VECTOR = re.compile(r"%[xyz]mm|\bq\d|\bv\d+\.|\bz\d+\.")
# Not with an index: that is a row. %rbp may be any pointer where it is no frame pointer.
STACK_STORE = re.compile(r"^\s+(v?mov\w+\s+%[xyz]mm\d+, -?\d*\(%rsp\)|st[urp]+\s+[bhsdqz]\d+.*\[(sp|x29))")
FRAME_STORE = re.compile(r"^\s+v?mov\w+\s+%[xyz]mm\d+, -?\d*\(%rbp\)")
FRAME = re.compile(r"^\s+movq\s+%rsp, %rbp")
HORIZONTAL = re.compile(r"^\s+(vextractf(64x4|32x8|128)|vextractf32x4|vhadd|faddp|faddv|fadda)")
WIDENING = re.compile(r"^\s+v?(pmovzxwd|punpck[lh]wd|permt2w|permi2w)")
HALVES = re.compile(r"^\s+vextractf128\s+\$1, %ymm\d+, %xmm")


def functions(lines):
    name, body = None, []
    for line in lines:
        start = FUNCTION.match(line)
        if start:
            name, body = start.group(1), []
        elif name and (line.startswith("\t.cfi_endproc") or line.startswith(".Lfunc_end")):
            yield name, body
            name = None
        elif name:
            body.append(line)


def innermost_loops(body):
    """The lines from a label to a jump back to it that hold no other such loop."""
    places = {match.group(1): i for i, line in enumerate(body) if (match := LABEL.match(line))}
    loops = [(places[jump.group(1)], i) for i, line in enumerate(body)
             if (jump := JUMP.match(line)) and places.get(jump.group(1), len(body)) < i]
    return [(low, high) for low, high in loops
            if not any((low, high) != (a, b) and low <= a and b <= high for a, b in loops)]


def count(pattern, lines):
    return sum(bool(pattern.match(line)) for line in lines)


def count_stack_stores(body, loops):
    has_frame = any(FRAME.match(line) for line in body)
    return sum(count(STACK_STORE, loop) + has_frame * count(FRAME_STORE, loop) for loop in loops)


def main():
    with open(sys.argv[1]) as file:
        lines = file.read().splitlines()
    for name, body in functions(lines):
        loops = [body[low:high] for low, high in innermost_loops(body)]
        vector = [loop for loop in loops if any(VECTOR.search(line) for line in loop)]
        print(f"{name}: {count(CALL, body)} calls, {count(RARE_CALL, body)} rare, {len(vector)} vector loops with "
              f"{count_stack_stores(body, vector)} stores to the stack and "
              f"{sum(count(HORIZONTAL, loop) for loop in vector)} horizontal steps, "
              f"{sum(count(WIDENING, loop) for loop in vector)} widening shuffles, "
              f"{count(HALVES, body)} reductions, "
              f"{sum('vmovnt' in line for line in body)} non-temporal stores, "
              f"{sum('sfence' in line for line in body)} fences")


if __name__ == "__main__":
    main()
