# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the kernels of the benchmarks' table for a level of x86-64 and for processors that have all of it, and
# compares the innermost loops on vectors: a processor must not get more instructions than the level, nor narrower
# vectors, nor more of the stack. Prints a line per processor, with the conversions that only it has, and one for each
# thing that is worse. Ends with 1 where something is worse; after `!` something has to be.
# Usage: compare_levels.py LLVM_BIN BENCHMARKS FOLDER [!]LEVEL:CPU,CPU...

import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import check_loops

# Instructions that registers make, and that a processor's model of time moves about: so much more is no difference.
SLACK = 1.03
SLACK_STACK = 4
WIDTH = 768
# f16 differs from f32 in conversions alone, which these have.
HALF_KERNELS = ("add_layer_norm", "dropout_add_layer_norm")
INSTRUCTION = re.compile(r"^\s+(\w+)")
CONVERSION = re.compile(r"^\s+(v?cvt\w*(?:bf16|ph)\w*|vbcstne\w+)")
HALF_ARITHMETIC = re.compile(r"^\s+v(add|sub|mul|div|fn?m\w+|min|max|sqrt)ph\b")
FUNCTION = re.compile(r"^<(?!L\d+>)([\w.$]+)>:")
REGISTERS = {"%zmm": 512, "%ymm": 256, "%xmm": 128}


def write_program(benchmarks, path):
    """All kernels in f32 and bf16, and some in f16. Halves of the unfused forms are mostly conversions: in bf16."""
    sys.path.insert(0, str(benchmarks))
    from harness import cases
    names = [kernel.name for kernel in cases.KERNELS]
    parts = {name for kernel in cases.KERNELS for name, _, _ in kernel.parts}.difference(names)
    forms = [(name, element) for name in names for element in ("f32", "bf16")]
    forms += [(name, "bf16") for name in sorted(parts)] + [(name, "f16") for name in HALF_KERNELS]
    path.write_text("".join(cases.specialize(name, element, WIDTH) for name, element in forms))


def disassemble(llvm_bin, program, cpu):
    """The lines of an object's row functions, in the form of assembly that check_loops reads."""
    object_file = program.with_name(f"{cpu}.o")
    subprocess.run(["residc", program, f"--mcpu={cpu}", "-o", object_file], check=True)
    command = [pathlib.Path(llvm_bin) / "llvm-objdump", "-d", "--no-show-raw-insn", "--no-leading-addr",
               "--symbolize-operands", object_file]
    lines, inside = [], False
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        function = FUNCTION.match(line)
        if function or not line:
            lines += ["\t.cfi_endproc"] * inside + ([f"{function.group(1)}:"] if function else [])
            inside = bool(function)
        elif "nop" not in line:
            lines.append(re.sub(r"^<L(\d+)>:", r".L\1:", re.sub(r"<L(\d+)>$", r".L\1", line)))
    return lines + ["\t.cfi_endproc"] * inside


def drop_rare_rounding(body):
    """The body without what rounds to bf16 where some number is subnormal: the block after that question which does
    not use the packed conversion."""
    blocks, successors = check_loops.basic_blocks(body)
    rare = set()
    for (low, high), targets in zip(blocks, successors):
        if any("vfpclass" in line for line in body[low:high]) and len(targets) == 2:
            rare |= {i for i in targets if not any("vcvtne" in line for line in body[slice(*blocks[i])])}
    dropped = {i for block in rare for i in range(*blocks[block])
               if INSTRUCTION.match(body[i]) and not check_loops.JUMP.match(body[i])}
    return [line for i, line in enumerate(body) if i not in dropped]


def measure(body):
    """What the innermost loops on vectors execute: instructions, vector instructions by width, uses of the stack."""
    counts = collections.Counter()
    for loop in check_loops.innermost_loops(drop_rare_rounding(body)):
        if not any(check_loops.VECTOR.search(line) for line in loop):
            continue
        for line in loop:
            counts["instructions"] += bool(INSTRUCTION.match(line))
            counts["stack"] += "(%rsp" in line
            counts["f16"] += bool(HALF_ARITHMETIC.match(line))
            widest = next((bits for name, bits in REGISTERS.items() if name in line), None)
            counts.update([widest] if widest else [])
    return counts


def read(llvm_bin, program, cpu):
    lines = disassemble(llvm_bin, program, cpu)
    functions = dict(check_loops.functions(lines))
    conversions = {match.group(1) for body in functions.values() for match in map(CONVERSION.match, body) if match}
    return {name: measure(body) for name, body in functions.items()}, conversions


def compare(name, of_level, of_cpu):
    """What is worse, as text."""
    def differ(what, slack=SLACK, more=0):
        if of_cpu[what] > of_level[what] * slack + more:
            unit = f"instructions on {what} bits" if isinstance(what, int) else what
            return [f"{name}: expected at most {of_level[what]} {unit}, but got {of_cpu[what]}"]
        return []

    worse = differ("instructions") + differ("stack", 1, SLACK_STACK)
    widest = max(bits for bits in of_level if isinstance(bits, int))
    for bits in set(REGISTERS.values()) - {widest}:
        # A vector of f16 is half a register, and such arithmetic takes the place of conversions to f32.
        worse += differ(bits, more=2 + 3 * of_cpu["f16"])
    return worse + differ(widest)


def report(level, of_level, cpu, of_cpu):
    """Prints what the processor has beside the level; whether anything of it is worse."""
    (base, known), (own, conversions) = of_level, of_cpu
    assert base and all(counts["instructions"] for name, counts in base.items() if name.endswith("__rows"))
    worse = [text for name in base if name in own for text in compare(name, base[name], own[name])]
    worse += [f"{name}: in one of the two only" for name in sorted(base.keys() ^ own.keys())]
    total, least = (sum(counts["instructions"] for counts in each.values()) for each in (own, base))
    print(f"{cpu}: {100 * total / least:.0f} % of the instructions of {level}, "
          f"conversions of its own: {', '.join(sorted(conversions - known)) or 'none'}")
    for text in worse:
        print(f"{cpu} beside {level}: {text}")
    return bool(worse)


def main():
    llvm_bin, benchmarks, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "kernels.mlir"
    write_program(benchmarks, program)
    groups = [(level, cpus.split(",")) for level, _, cpus in (text.partition(":") for text in sys.argv[4:])]
    cpus = dict.fromkeys(cpu for level, named in groups for cpu in (level.removeprefix("!"), *named))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        measured = dict(zip(cpus, pool.map(lambda cpu: read(llvm_bin, program, cpu), cpus)))
    failed = False
    for level, named in groups:
        is_worse = level.startswith("!")
        level = level.removeprefix("!")
        for cpu in named:
            failed |= report(level, measured[level], cpu, measured[cpu]) != is_worse
    sys.exit(failed)


if __name__ == "__main__":
    main()
