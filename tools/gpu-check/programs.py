#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Products, attention, moved arrays and whole layers on the GPU of this machine: their bits beside the CPU's, and their
# times beside PyTorch's, which is asked for f32 without TF32. `programs.py build FOLDER` compiles them, where residc is;
# `programs.py run FOLDER` needs the driver and PyTorch, and writes FOLDER/programs.md after each program. Exit code 1: bits
# differ, or a program failed.

import argparse
import ctypes
import pathlib
import subprocess
import sys
import time

import peers


def kind(shape, element="f32"):
    return f"tensor<{'x'.join(str(size) for size in [*shape, element])}>"


class Program:
    """One function of arrays. `peer` is what PyTorch makes of the same arguments; `work` says what a second is of."""

    def __init__(self, name, arguments, results, body, peer, *, flops=0, moved=0, checks_bits=True):
        self.name, self.arguments, self.results, self.peer = name, arguments, results, peer
        self.flops, self.moved, self.checks_bits = flops, moved, checks_bits
        given = ", ".join(f"%a{i}: {kind(*array)}" for i, array in enumerate(arguments))
        types = ", ".join(kind(*array) for array in results)
        self.text = f"func.func @{name}({given}) -> ({types}) {{\n{body}\n}}\n"


def product(rows, columns, terms, element="f32"):
    x, w, y = ((rows, terms), element), ((columns, terms), element), ((rows, columns), element)
    body = f"  %y = resid.linear %a0, %a1 : {kind(*x)}, {kind(*w)}\n  return %y : {kind(*y)}"
    return Program(f"product_{element}_{rows}x{columns}x{terms}", [x, w], [y], body, lambda torch, a, b: torch.nn.functional.linear(a, b),
                   flops=2 * rows * columns * terms)


def attention(heads, queries, keys, size, causal, element="f32"):
    q, k = ((1, heads, queries, size), element), ((1, heads, keys, size), element)
    flag = " {causal}" if causal else ""
    body = f"  %y = resid.attention %a0, %a1, %a2{flag} : {kind(*q)}, {kind(*k)}, {kind(*k)}\n  return %y : {kind(*q)}"
    name = f"attention_{element}_{heads}x{queries}x{keys}x{size}{'_causal' if causal else ''}"

    def peer(torch, a, b, c):
        return torch.nn.functional.scaled_dot_product_attention(a, b, c, is_causal=causal)

    return Program(name, [q, k, k], [q], body, peer, flops=4 * heads * queries * keys * size // (2 if causal else 1))


def transpose(rows, columns):
    x, y = ((rows, columns), "f32"), ((columns, rows), "f32")
    body = (f"  %e = tensor.empty() : {kind(*y)}\n  %y = linalg.transpose ins(%a0 : {kind(*x)}) outs(%e : {kind(*y)}) permutation = [1, 0]\n"
            f"  return %y : {kind(*y)}")
    return Program(f"transpose_{rows}x{columns}", [x], [y], body, lambda torch, a: a.t().contiguous(), moved=8 * rows * columns)


def join(rows, columns):
    x, y = ((rows, columns), "f32"), ((rows, 2 * columns), "f32")
    body = f"  %y = tensor.concat dim(1) %a0, %a1 : ({kind(*x)}, {kind(*x)}) -> {kind(*y)}\n  return %y : {kind(*y)}"
    return Program(f"concat_{rows}x{columns}", [x, x], [y], body, lambda torch, a, b: torch.cat([a, b], 1), moved=16 * rows * columns)


def bert_layer(tokens, width=768, heads=12):
    """Post-norm, as BERT has it: attention, add & norm, GELU between two products, add & norm."""
    x, row, size = (tokens, width), (width,), width // heads
    matrices = [(width, width)] * 4 + [(4 * width, width), (width, 4 * width)]
    vectors = [row] * 4 + [(4 * width,), row, row, row, row, row]
    arrays = [(shape, "f32") for shape in [x, *matrices, *vectors]]
    names = ["x", "wq", "wk", "wv", "wo", "w1", "w2", "bq", "bk", "bv", "bo", "b1", "b2", "g1", "e1", "g2", "e2"]
    at = {name: f"%a{i}" for i, name in enumerate(names)}
    t, m, r, wide = kind(x), kind((width, width)), kind(row), kind((tokens, 4 * width))
    split, heads_first = kind((1, tokens, heads, size)), kind((1, heads, tokens, size))
    lines = []
    for name in "qkv":
        lines += [f"%{name} = resid.linear {at['x']}, {at['w' + name]} bias({at['b' + name]}) : {t}, {m}, {r}",
                  f"%{name}1 = tensor.expand_shape %{name} [[0, 1], [2, 3]] output_shape [1, {tokens}, {heads}, {size}] : {t} into {split}",
                  f"%{name}e = tensor.empty() : {heads_first}",
                  f"%{name}h = linalg.transpose ins(%{name}1 : {split}) outs(%{name}e : {heads_first}) permutation = [0, 2, 1, 3]"]
    lines += [f"%h = resid.attention %qh, %kh, %vh : {heads_first}, {heads_first}, {heads_first}", f"%he = tensor.empty() : {split}",
              f"%ht = linalg.transpose ins(%h : {heads_first}) outs(%he : {split}) permutation = [0, 2, 1, 3]",
              f"%hm = tensor.collapse_shape %ht [[0, 1], [2, 3]] : {split} into {t}",
              f"%o = resid.linear %hm, {at['wo']} bias({at['bo']}) : {t}, {m}, {r}", f"%s1 = resid.add {at['x']}, %o : {t}",
              f"%n1 = resid.layer_norm %s1 gamma({at['g1']}) beta({at['e1']}) {{epsilon = 1.0e-12}} : {t}, {r}, {r}",
              f"%u = resid.linear %n1, {at['w1']} bias({at['b1']}) : {t}, {kind(matrices[4])}, {kind((4 * width,))}",
              f"%g = resid.activation gelu %u : {wide}",
              f"%d = resid.linear %g, {at['w2']} bias({at['b2']}) : {wide}, {kind(matrices[5])}, {r}", f"%s2 = resid.add %n1, %d : {t}",
              f"%n2 = resid.layer_norm %s2 gamma({at['g2']}) beta({at['e2']}) {{epsilon = 1.0e-12}} : {t}, {r}, {r}", f"return %n2 : {t}"]

    def peer(torch, *given):
        f, a = torch.nn.functional, dict(zip(names, given))
        q, k, v = (f.linear(a["x"], a["w" + name], a["b" + name]).view(1, tokens, heads, size).transpose(1, 2) for name in "qkv")
        h = f.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(tokens, width)
        n = f.layer_norm(a["x"] + f.linear(h, a["wo"], a["bo"]), row, a["g1"], a["e1"], 1e-12)
        d = f.linear(f.gelu(f.linear(n, a["w1"], a["b1"])), a["w2"], a["b2"])
        return f.layer_norm(n + d, row, a["g2"], a["e2"], 1e-12)

    return Program(f"bert_layer_{tokens}", arrays, [(x, "f32")], "\n".join("  " + line for line in lines), peer,
                   flops=2 * tokens * width * width * 12 + 4 * tokens * tokens * width, checks_bits=tokens <= 512)


PROGRAMS = [product(512, 768, 3072), product(1, 4096, 4096), product(8, 4096, 4096), product(1, 4096, 4096, "bf16"), product(64, 4096, 4096),
            product(4096, 4096, 4096), product(4096, 4096, 4096, "bf16"), transpose(8192, 8192), join(8192, 4096),
            attention(16, 2048, 2048, 64, False), attention(16, 2048, 2048, 64, True), attention(16, 1, 8192, 64, False),
            bert_layer(512), bert_layer(4096)]


def build(folder, residc, chip):
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        source = folder / f"{program.name}.mlir"
        source.write_text(program.text, encoding="utf-8")
        for target, flags in (("cuda", ["--target=cuda", f"--chip={chip}"]), ("cpu", ["--mcpu=x86-64-v3"])):
            print(f"programs: {program.name} for {target}", file=sys.stderr, flush=True)
            subprocess.run([residc, source, *flags, "--emit=shared", "-o", folder / f"{program.name}.{target}.so"], check=True)


class Context(ctypes.Structure):
    """resid_ctx, of one thread, with the C library's memory."""

    ALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
    FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    _fields_ = [("abi_version", ctypes.c_uint32), ("hints", ctypes.c_uint32), ("user", ctypes.c_void_p), ("parallel_for", ctypes.c_void_p),
                ("alloc", ALLOC), ("free", FREE), ("stream", ctypes.c_void_p), ("log", ctypes.c_void_p)]


def make_host_context():
    library = ctypes.CDLL(None)
    library.aligned_alloc.restype = ctypes.c_void_p

    def allocate(_, size, alignment):
        return library.aligned_alloc(ctypes.c_size_t(alignment), ctypes.c_size_t(-(-size // alignment) * alignment))

    def free(_, memory):
        library.free(ctypes.c_void_p(memory))

    return Context(1, 0, None, None, Context.ALLOC(allocate), Context.FREE(free), None, None)


def call(function, context, arrays, stream=None):
    context.stream = stream
    status = function(ctypes.byref(context), *(ctypes.c_void_p(array.data_ptr()) for array in arrays))
    if status:
        raise RuntimeError(f"the function answered {status}")


def time_by_turns(torch, runs, samples):
    """Seconds of each, medians. A sample is a graph of as many calls as take about five milliseconds, or where one cannot be
    captured, the calls themselves."""
    measure = peers.Timer(torch).time

    def capture(run, calls):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                run()
        return graph.replay

    taken = []
    for run in runs:
        measure(run, 2)
        count = max(1, min(200, int(5e-3 / measure(run, 3))))
        try:
            taken.append((capture(run, count), count))
        except RuntimeError:
            taken.append((lambda run=run, count=count: [run() for _ in range(count)], count))
        measure(taken[-1][0], 1)
    times = zip(*([measure(sample, 1) / count for sample, count in taken] for _ in range(samples)))
    return [sorted(each)[samples // 2] for each in times]


def run_program(torch, program, folder, samples):
    library = ctypes.CDLL(str(folder / f"{program.name}.cuda.so"))
    context, function = Context(), getattr(library, program.name)
    if status := library.resid_cuda_ctx_init(ctypes.byref(context), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)):
        raise RuntimeError(f"no context: {status}")
    types = {"f32": torch.float32, "bf16": torch.bfloat16}
    torch.manual_seed(1)
    given = [(torch.randn(shape) * (shape[-1] ** -0.5 if len(shape) == 2 and i else 1)).to(types[element])
             for i, (shape, element) in enumerate(program.arguments)]
    arrays = [array.cuda() for array in given]
    results = [torch.full(shape, float("nan"), dtype=types[element], device="cuda") for shape, element in program.results]
    call(function, context, arrays + results)
    torch.cuda.synchronize()
    bits = "not compared"
    reference = folder / f"{program.name}.cpu.so"
    if program.checks_bits and reference.exists():
        expected = [torch.empty(shape, dtype=types[element]) for shape, element in program.results]
        call(getattr(ctypes.CDLL(str(reference)), program.name), make_host_context(), given + expected)
        integers = {torch.float32: torch.int32, torch.bfloat16: torch.int16}
        wrong = sum(int((found.cpu().view(integers[found.dtype]) != right.view(integers[right.dtype])).sum()) for found, right in zip(results, expected))
        bits = "those of the CPU" if wrong == 0 else f"{wrong} of others"
    peer = program.peer(torch, *arrays)
    error = float((peer.double() - results[0].double()).abs().max() / peer.double().abs().max())
    runs = [lambda: call(function, context, arrays + results, torch.cuda.current_stream().cuda_stream), lambda: program.peer(torch, *arrays)]
    names = ["PyTorch"]
    if program.name.startswith("bert"):
        compiled = torch.compile(lambda *values: program.peer(torch, *values))
        compiled(*arrays)
        runs.append(lambda: compiled(*arrays))
        names.append("torch.compile")
    own, *others = time_by_turns(torch, runs, samples)
    rate = f"{program.flops / own / 1e12:.2f} TFLOP/s" if program.flops else f"{program.moved / own / 1e9:.0f} GB/s"
    ratios = ", ".join(f"{name} {other / own:.2f}" for name, other in zip(names, others))
    return bits, f"| {program.name} | {bits} | {error:.1e} | {own * 1e6:.1f} | {rate} | {ratios} |"


def run(folder, names, samples):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    lines = [f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", "",
             "| program | bits | largest difference to PyTorch | microseconds | rate | as fast as |", "| --- | --- | --- | --- | --- | --- |"]
    failed = False
    print("\n".join(lines), flush=True)
    for program in PROGRAMS:
        if names and not any(name in program.name for name in names):
            continue
        begin = time.time()
        try:
            bits, line = run_program(torch, program, folder, samples)
            failed |= bits.endswith("others")
        except Exception as error:  # the next program may run
            failed, line = True, f"| {program.name} | failed: {error} | | | | |"
        lines.append(line)
        print(f"{line} {time.time() - begin:.1f} s", flush=True)
        (folder / "programs.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["build", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--residc", default="residc")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--names", default="", help="run programs whose names have one of these words, with commas between them")
    flags = parser.parse_args()
    if flags.what == "build":
        build(flags.folder, flags.residc, flags.chip)
        return 0
    return run(flags.folder, [name for name in flags.names.split(",") if name], flags.samples)


if __name__ == "__main__":
    sys.exit(main())
