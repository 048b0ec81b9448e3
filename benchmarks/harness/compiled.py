# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The kernels as residc compiles them: one object per set of flags, linked into a shared library.

import ctypes
import dataclasses
import re
import resource
import statistics
import subprocess

from . import cases


@dataclasses.dataclass(frozen=True)
class Path:
    """A way to compile the kernels that is measured for itself."""
    name: str
    title: str
    flags: tuple
    fixed_width: bool = True
    compiler: str = None  # another residc than that of the build


PATHS = (
    Path("resid", "resid", ()),
    Path("resid-any-width", "resid, width at run time", (), fixed_width=False),
    Path("resid-scalar", "resid, scalar path", ("--schedule=path=scalar",)),
)


def with_flag(flag):
    """What residc makes with a further flag."""
    return Path(f"resid{flag}", f"resid, {flag}", (flag,))


def with_compiler(residc):
    """What another residc makes, such as that of an older version."""
    return Path("resid-against", "resid, the compiler to compare with", (), compiler=residc)


class Unavailable(Exception):
    """Something that is not measured, with the reason."""


def names_of(kernels, others):
    """These kernels, their parts, and some others, by name."""
    parts = [name for kernel in kernels for name, _, _ in kernel.parts]
    return list(dict.fromkeys([*(kernel.name for kernel in kernels), *parts, *others]))


def program(path, widths, resid_opt):
    """`widths`: those of each kernel, by its name."""
    forms = [(kernel, element, width) for kernel, known in widths.items() for element in cases.SIZES
             for width in (sorted(set(known)) if path.fixed_width else [None])]
    texts = [cases.specialize(*form) for form in forms if not form[0].endswith(cases.BACKWARD)]
    backward = [(kernel.removesuffix(cases.BACKWARD), *form) for kernel, *form in forms if kernel.endswith(cases.BACKWARD)]
    return "\n".join([*texts, backward_program(backward, resid_opt)])


def backward_program(forward, resid_opt):
    """The backward kernels alone, which the pass makes of the forward ones."""
    text = "\n".join(cases.specialize(*form) for form in forward)
    passes = [f"--resid-grad=function={cases.function_name(*form)}" for form in forward]
    made = subprocess.run([resid_opt, "-", *passes], input=text, capture_output=True, text=True, check=True).stdout
    return "".join(re.findall(rf"^  func\.func @\w+{cases.BACKWARD}\(.*?^  }}\n", made, re.MULTILINE | re.DOTALL))


def link(object_file, compiler):
    """An object as a library of this process."""
    library = object_file.with_suffix(".so")
    subprocess.run([*compiler, "-shared", "-o", library, object_file], check=True)
    return ctypes.CDLL(str(library))


def compile_path(path, text, residc, compiler, folder, flags=()):
    """A library with all functions of a program compiled that way. Unavailable where residc does not take the flags."""
    source, object_file = folder / f"{path.name}.mlir", folder / f"{path.name}.o"
    source.write_text(text)
    command = [path.compiler or residc, source, "-o", object_file, *flags, *path.flags]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 2:
        raise Unavailable(f"this residc does not take {' '.join(path.flags)}")
    if run.returncode != 0:
        raise SystemExit(f"bench: {' '.join(map(str, command))} exited with {run.returncode}:\n{run.stderr}")
    return link(object_file, compiler)


def arguments_of(arrays, case, arguments, results, fixed_width, context):
    """What a compiled function is called with: see docs/embedding.md."""
    values = [context]
    for name in arguments:
        if name in cases.SCALARS:
            values.append(cases.SCALARS[name])
            continue
        values.append(arrays[name])
        if name in (*cases.ROW_ARRAYS, *cases.STATISTICS):
            values.append(case.rows)
        if not fixed_width and name not in cases.STATISTICS:
            values.append(case.width)
    return values + [arrays[name] for name in results]


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median_seconds(command, runs):
    """Processor time of the whole process, so that the turns of others do not count."""
    times = []
    for _ in range(runs):
        start = children_seconds()
        subprocess.run(command, check=True)
        times.append(children_seconds() - start)
    return statistics.median(times)


def layers_program(count):
    """Pre-norm layers of two blocks each, with linear layers in the branches, and a norm; weights are arguments."""
    stream, matrix, vector = "tensor<?x768xf32>", "tensor<768x768xf32>", "tensor<768xf32>"
    arguments, body, current = [f"%x: {stream}"], [], "%x"
    for block in range(2 * count):
        arguments += [f"%w{block}: {matrix}", f"%g{block}: {vector}", f"%b{block}: {vector}"]
        norm = f"layer gamma %g{block} : {vector} beta %b{block} : {vector} epsilon = 1.0e-5"
        body.append(f"""  %y{block} = resid.block pre {current} norm({norm}) : {stream} {{
  ^bb0(%h: {stream}):
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %h, %c0 : {stream}
    %empty = tensor.empty(%rows) : {stream}
    %start = linalg.fill ins(%zero : f32) outs(%empty : {stream}) -> {stream}
    %f = linalg.matmul ins(%h, %w{block} : {stream}, {matrix}) outs(%start : {stream}) -> {stream}
    %biased = resid.add_bias %f, %b{block} : {stream}, {vector}
    resid.yield %biased : {stream}
  }}""")
        current = f"%y{block}"
    types = f"{stream}, {vector}, {vector}"
    body.append(f"""  %n = resid.layer_norm {current} gamma(%g0) beta(%b0) {{epsilon = 1.0e-5}} : {types}
  return %n : {stream}""")
    return f"func.func @layers({', '.join(arguments)}) -> {stream} {{\n" + "\n".join(body) + "\n}\n"


def compile_times(residc, folder, tries, runs, layers=12):
    """(what, seconds of the whole process) for one kernel and for layers of blocks: medians, of the best try."""
    source = folder / "layers.mlir"
    source.write_text(layers_program(layers))
    kernel = folder / "one-kernel.mlir"
    kernel.write_text(cases.specialize("add_layer_norm", "f32", 768))
    target = folder / "timed.o"
    programs = (("one kernel (f32 add + layer norm, width 768)", kernel),
                (f"{layers} layers of blocks ({2 * layers} blocks)", source))
    medians = [[median_seconds([residc, program, "-o", target], runs) for _, program in programs] for _ in range(tries)]
    return [(what, min(times)) for (what, _), times in zip(programs, zip(*medians))]
