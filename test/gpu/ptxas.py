# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles PTX with NVIDIA's ptxas, and reads what came out: registers, spills, and instructions of the chip.

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# PyTorch's peers for the benchmarks bring the tools too.
FOLDERS = [pathlib.Path("/usr/local/cuda/bin"), *ROOT.glob("build/peers/lib/python3*/site-packages/triton/backends/nvidia/bin")]

CHIPS = ["sm_80", "sm_90", "sm_100"]
MARKS = "<!-- results -->", "<!-- end of results -->"


def make_parser(description, what):
    """Of a script that does something with many programs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), default=ROOT / "build", help="the build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=f"how many {what} at a time")
    return parser


def split(of):
    """The type of a flag with several values."""
    return lambda text: [of(word) for word in text.split(",")]


def update_page(page, text):
    before, rest = page.read_text().split(MARKS[0])
    page.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


def find_tool(name):
    """ptxas, nvcc or nvdisasm: what the variable RESID_<NAME> names and nothing else, or from PATH, or from a known folder."""
    named = os.environ.get(f"RESID_{name.upper()}")
    candidates = [named] if named else [name, *(str(folder / name) for folder in FOLDERS)]
    found = next(filter(None, map(shutil.which, candidates)), None)
    return pathlib.Path(found) if found else None


@dataclasses.dataclass
class Kernel:
    """One entry of a PTX text, as ptxas compiled it."""
    name: str
    registers: int
    stack: int  # bytes
    spilled: int  # bytes stored

    def has_memory(self):
        """Whether its registers do not hold all that it computes with."""
        return self.spilled or self.stack

    def describe(self):
        return f"{self.name} spills {self.spilled} bytes and has {self.stack} bytes of stack, with {self.registers} registers"


def compile_and_assemble(residc, program, chip, ptxas, ptx, *flags):
    """The kernels of a program, whose PTX is left there, and what residc says. Raises RuntimeError where residc or ptxas refuses it,
    or where there are no kernels."""
    command = [residc, program, "--target=cuda", f"--chip={chip}", "-o", ptx, *flags]
    done = subprocess.run(command, capture_output=True, text=True, cwd=pathlib.Path(ptx).parent)
    if done.returncode:
        raise RuntimeError(f"residc ended with exit code {done.returncode}: {done.stderr.strip()}")
    kernels = assemble(ptxas, ptx, chip, pathlib.Path(ptx).with_suffix(".cubin"))
    if not kernels:
        raise RuntimeError("expected kernels, but ptxas names none")
    return kernels, done.stdout + done.stderr


def assemble(ptxas, text, chip, cubin):
    """The kernels of a file of PTX. Raises RuntimeError with what ptxas says where it refuses the text."""
    done = subprocess.run([ptxas, f"-arch={chip}", "-v", text, "-o", cubin], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{text}: {done.stderr.strip() or done.stdout.strip()}")
    pattern = (r"Compiling entry function '(\S+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers")
    found = re.findall(pattern, done.stderr + done.stdout, re.DOTALL)
    return [Kernel(name, int(registers), int(stack), int(spilled)) for name, stack, spilled, registers in found]


def drop_rare_branches(text):
    """The PTX without the blocks after the return: LLVM puts what hardly ever runs there."""
    lines = text.splitlines()
    ends = [i for i, line in enumerate(lines) if line.strip() == "ret;"]
    if not ends:
        return text
    rare = {line.rstrip(":") for line in lines[ends[-1]:] if re.match(r"\$L\w+:", line)}
    kept = []
    for i, line in enumerate(lines):
        branch = re.match(r"\s*@!?%p\d+\s+bra\s+(\$\w+);", line)
        jump = re.match(r"\s*bra\.uni\s+(\$\w+);", line)
        if branch and branch[1] in rare:
            continue
        if jump and jump[1] in rare:
            # The branch before leads to where rows go on.
            before = re.match(r"\s*@!?%p\d+\s+bra\s+(\$\w+);", kept.pop())
            kept.append(f"\tbra.uni {before[1]};")
            continue
        kept.append(line)
    return "\n".join(kept) + "\n"


def skip_lone_warps(text):
    """The PTX without what one warp does for all of a row's: where lanes are in shared memory, such as after a barrier, a
    branch takes all other warps past the sum of them. Here it takes all."""
    lines = text.splitlines()
    kept = list(lines)
    skipped = 0  # the line up to which all is jumped over
    for i, line in enumerate(lines):
        branch = re.match(r"\s*@!?%p\d+\s+bra\s+(\$\w+);", line)
        target = f"{branch[1]}:" if branch else ""
        if not branch or i < skipped or target not in lines[i:]:
            continue
        end = lines.index(target, i)
        body = [word.split()[0] for word in lines[i:end] if word.strip()]
        adds_lanes = any(word.startswith("ld.shared") for word in body) and any(word.startswith("shfl.sync") for word in body)
        if adds_lanes and not any(word.startswith("bar") for word in body):
            kept[i] = f"\tbra.uni \t{branch[1]};"
            skipped = end
    return "\n".join(kept) + "\n"


def take_kernel(text, name):
    """The PTX of one kernel alone, with what stands before all kernels."""
    first = text.index(".visible .entry ")
    parts = re.split(r"(?=^(?://[^\n]*\n)*\.visible \.entry )", text[first:], flags=re.MULTILINE)
    return text[:first] + next(part for part in parts if f".entry {name}(" in part)


def count_instructions(nvdisasm, cubin):
    """Of the usual way through the only kernel of a cubin: all but what stands in blocks that call the slow ways of
    divisions and square roots, and after the last exit of the kernel itself."""
    listing = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    blocks, block = [], []
    for line in listing.splitlines():
        if re.match(r"\s*(\.L_\w+|\.text\.\S+|\$\S+):", line):
            blocks.append(block)
            block = []
        found = re.match(r"\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z0-9_.]+)", line)
        if not found or found[2] == "NOP":
            continue
        block.append((bool(found[1]), found[2]))
        if found[2].split(".")[0] in ("BRA", "EXIT", "RET", "CALL"):
            blocks.append(block)
            block = []
    blocks = [block for block in blocks + [block] if block]
    end = next(i for i, block in enumerate(blocks) if block[-1] == (False, "EXIT"))
    return sum(len(block) for block in blocks[: end + 1] if not any(name.startswith("CALL") for _, name in block))
