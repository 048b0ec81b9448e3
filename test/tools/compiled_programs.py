# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that compare_builds.py compiles: the examples, the benchmarks' kernels, what the tests hold and what their
# generators write, and the collection for GPUs. Compiles nothing.

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/gpu"))

import collection

X86 = {level: (f"--mcpu={level}", "--mtriple=x86_64-linux-gnu") for level in ("x86-64-v3", "x86-64-v4")}
MACHINES = {**X86, "aarch64": ("--mcpu=neoverse-v1", "--mtriple=aarch64-linux-gnu"),
            "ptx": ("--target=cuda", "--chip=sm_80"), "launch": ("--target=cuda", "--chip=sm_80", *X86["x86-64-v3"])}
FOLDERS = ["examples", "benchmarks/kernels", "test/codegen", "test/embed/Inputs", "test/run", "test/random/cases", "test/sweep/Inputs",
           "test/tools", "test/sanitize/Inputs", "test/package/Inputs", "test/passes", "test/dialect", "test/reference"]
# Programs of ops and passes alone: one machine is enough for those.
SHALLOW = ("test/passes", "test/dialect", "test/reference", "test/tools")
KEPT_FLAGS = re.compile(r"--(?:schedule|mode|placement|params|raise|final-norm|grad|grad-mode|save|wrt|weights-struct|prefix)"
                        r"(?:=[^\s'\"%*$@]+)?(?=\s|$)")
# Of how jobs are described: programs of every kind, each on few machines.
QUICK = re.compile(r"^benchmarks/kernels/(add_layer_norm|dropout|dropout_add_layer_norm|column_sums_\w+) (x86|ptx|launch)|^grads \w+ 1 (?!launch)"
                   r"|^examples/layers/(decoder_layer|gpt2_block|llama_block) x86-64-v4($| --grad=gpt2)|^examples/post_norm_block/\S+ x86-64-v4"
                   r"|run/Inputs/(contraction-chains|grad-attention (f32|bf16)|grad-products|attention|tokens) x86-64-v4(?! --grad=\w+$)"
                   r"|embed/Inputs/(column_sums|row_blocks|local-rows|strided) x86-64-v4$|^open widths ptx"
                   r"|^grid (backward-layer-f32|backward-rms-bf16|layer|add_rms)\S*-768\S* (?!launch)")


@dataclasses.dataclass(frozen=True)
class Job:
    """A program, compiled for one machine."""
    program: str
    text: str
    machine: str
    flags: tuple = ()

    def get_flags(self):
        kind = "ptx" if self.machine == "ptx" else "asm"
        return [f"--emit={kind}", *MACHINES[self.machine], *self.flags]

    def describe(self):
        return " ".join([self.program, self.machine, *self.flags])


def read_parts(file):
    """(name, text) of each program of a file: several have a line of dashes between them, or a type to put in."""
    name = str(file.relative_to(ROOT).with_suffix(""))
    parts = re.split(r"^// -----.*\n", file.read_text(), flags=re.MULTILINE)
    for i, text in enumerate(parts):
        part = f"{name} part {i}" if len(parts) > 1 else name
        if "xT>" in text:
            yield from ((f"{part} {element}", text.replace("xT>", f"x{element}>")) for element in ("f32", "bf16"))
        else:
            yield part, text


def find_flags(text):
    """The sets of flags with which the test in a program's own comments compiles it."""
    runs = [line for line in text.splitlines() if "RUN:" in line and ("residc" in line or "resid-run" in line)]
    return sorted({tuple(KEPT_FLAGS.findall(line)) for line in runs} - {()})


def list_files():
    """Jobs for what the repository holds."""
    jobs = []
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.mlir"))
    for i, file in enumerate(files):
        folder = str(file.relative_to(ROOT))
        shallow = folder.startswith(SHALLOW)
        machines = ["x86-64-v4"] if shallow else ["x86-64-v3", "x86-64-v4"]
        machines += ["aarch64"] * (folder.startswith(("examples", "benchmarks")) or i % 4 == 0 and not shallow)
        machines += ["ptx", "launch"] * (folder.startswith("benchmarks") or "embed" in folder and "cuda" in folder)
        for name, text in read_parts(file):
            jobs += [Job(name, text, machine) for machine in machines]
            jobs += [Job(name, text, "x86-64-v4", flags) for flags in find_flags(text)]
            function = re.search(r"func\.func @(\w+)", text)
            if function and not shallow and folder.startswith(("examples", "test/run", "test/embed")):
                jobs += [Job(name, text, "x86-64-v4", (f"--grad={function[1]}", *wrt)) for wrt in ((), ("--wrt=0,1,2",))]
    return jobs


def write(folder, name, script, *words, standard_output=False):
    """What a generator writes: (name, text) of each program."""
    place = folder / name.replace(" ", "-")
    place.mkdir()
    done = subprocess.run([sys.executable, ROOT / script, *(str(place) if word is None else word for word in words)],
                          check=True, capture_output=True, text=True)
    if standard_output:
        return [(name, done.stdout)]
    return [(f"{name} {file.stem}", file.read_text()) for file in sorted(place.glob("*.mlir"))]


def list_written(folder):
    """Jobs for what the tests' generators write."""
    found = write(folder, "attention", "test/embed/Inputs/attention.py", None)
    found += write(folder, "contractions", "test/embed/Inputs/contractions.py", None)
    found += write(folder, "many arrays", "test/embed/Inputs/many_arrays.py", None)
    for element in ("f32", "bf16"):
        found += write(folder, f"random {element}", "test/embed/Inputs/random_programs.py", element, "12", "1", None)
        found += write(folder, f"stack {element}", "test/embed/Inputs/stack.py", element, None)
        found += write(folder, f"blocks {element}", "test/run/Inputs/write_blocks.py", element, None)
        found += write(folder, f"loops {element}", "test/run/Inputs/write_loops.py", element, None)
    found += write(folder, "group norms", "test/run/Inputs/write_group_norms.py", None)
    found += write(folder, "group norm grads", "test/run/Inputs/write_group_norm_grads.py", None)
    found += write(folder, "tokens", "test/run/Inputs/write_tokens.py", None)
    found += write(folder, "math", "test/run/Inputs/write_math_functions.py", None, "f32", "bf16", "f64")
    for weights in ("in-out", "prepared"):
        words = ["--layers=2", f"--weights={weights}", "--attention=op"]
        found += write(folder, f"transformer {weights}", "benchmarks/transformer.py", *words, standard_output=True)
    return [Job(name, text, machine) for name, text in found for machine in X86]


def list_for_gpus(folder, few):
    """Jobs for what the tests compile for GPUs, on both targets."""
    jobs = []
    for i, (name, file) in enumerate(collection.write_all(folder, few)):
        text = file.read_text()
        machines = ["ptx", "launch"] if i % 4 == 0 else ["ptx"]
        jobs += [Job(name, text, machine) for machine in [*machines, "x86-64-v4"]]
        if name.startswith("grads") and i % 4 == 0:
            jobs += [Job(name, text, "ptx", (f"--schedule={keys}",)) for keys in ("gpu-lanes=2", "gpu-weights=registers")]
    return jobs


def list_jobs(folder, quick):
    """All jobs, each once; with `quick`, one minute of them. Generators write to `folder`."""
    jobs = list_files() + list_for_gpus(folder, quick)
    jobs += [] if quick else list_written(folder)
    once = {(job.text, job.machine, job.flags): job for job in reversed(jobs)}
    return [job for job in reversed(once.values()) if not quick or QUICK.search(job.describe())]
