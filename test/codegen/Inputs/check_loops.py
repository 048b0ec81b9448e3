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
END = re.compile(r"^\s+(jmp|b|ret\w*)(\s|$)")
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


def basic_blocks(body):
    """Each as a range of lines, and where it may go on."""
    starts = {0} | {i for i, line in enumerate(body) if LABEL.match(line)} | {
        i + 1 for i, line in enumerate(body) if JUMP.match(line) and i + 1 < len(body)}
    bounds = sorted(starts) + [len(body)]
    blocks = list(zip(bounds, bounds[1:]))
    places = {LABEL.match(body[low]).group(1): i for i, (low, _) in enumerate(blocks) if LABEL.match(body[low])}
    successors = []
    for i, (_, high) in enumerate(blocks):
        last = body[high - 1]
        jump = JUMP.match(last)
        targets = [places[jump.group(1)]] if jump and jump.group(1) in places else []
        if not END.match(last) and i + 1 < len(blocks):
            targets.append(i + 1)
        successors.append(targets)
    return blocks, successors


def dominators(successors):
    """The immediate dominator of each block that can be reached, by its number in an order from the first on."""
    order, seen, todo = [], {0}, [(0, iter(successors[0]))]
    while todo:
        block, rest = todo[-1]
        following = next((other for other in rest if other not in seen), None)
        if following is None:
            order.append(todo.pop()[0])
        else:
            seen.add(following)
            todo.append((following, iter(successors[following])))
    number = {block: i for i, block in enumerate(reversed(order))}
    before = [[] for _ in order]
    for block, i in number.items():
        for other in successors[block]:
            before[number[other]].append(i)
    parents, changed = [0] + [None] * (len(order) - 1), True
    while changed:
        changed = False
        for i in range(1, len(order)):
            known = [other for other in before[i] if parents[other] is not None]
            common = known[0]
            for other in known[1:]:
                while common != other:
                    common, other = (parents[common], other) if common > other else (common, parents[other])
            changed |= parents[i] != common
            parents[i] = common
    return number, before, parents


def innermost_loops(body):
    """The lines of each natural loop that holds no other one, in whatever order its blocks are laid out."""
    blocks, successors = basic_blocks(body)
    number, before, parents = dominators(successors)

    def dominates(head, i):
        while i > head:
            i = parents[i]
        return i == head

    loops = {}
    for head, others in enumerate(before):
        members, todo = {head}, [tail for tail in others if dominates(head, tail)]
        for i in todo:
            loops[head] = members
            if i not in members:
                members.add(i)
                todo += before[i]
    places = {i: block for block, i in number.items()}
    return [[line for block in sorted(places[i] for i in members) for line in body[slice(*blocks[block])]]
            for head, members in loops.items()
            if not any(other != head and other in members for other in loops)]


def count(pattern, lines):
    return sum(bool(pattern.match(line)) for line in lines)


def count_stack_stores(body, loops):
    has_frame = any(FRAME.match(line) for line in body)
    return sum(count(STACK_STORE, loop) + has_frame * count(FRAME_STORE, loop) for loop in loops)


def main():
    with open(sys.argv[1]) as file:
        lines = file.read().splitlines()
    for name, body in functions(lines):
        loops = innermost_loops(body)
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
