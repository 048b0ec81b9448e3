# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# stream_values.py FOLDER PROCESSOR…: programs with reads, writes, projections and Sinkhorn's iterations of several
# shapes and types are run with --check on each processor, and their results are held to the formulas in float64, which
# stand here once more.

import os
import re
import subprocess
import sys

import numpy as np

FOLDER, PROCESSORS = sys.argv[1], sys.argv[2:]
UNIT = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-22, "f64": 2.0**-50}
random = np.random.default_rng(11)


def stored(array, element):
    """The array in its type of storage, as a file and as float64."""
    if element == "bf16":
        bits = array.astype(np.float32).view(np.uint32)
        bits = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    narrow = array.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[element])
    return narrow, narrow.astype(np.float64)


def loaded(path, element):
    array = np.load(path)
    return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64) if element == "bf16" else array.astype(np.float64)


def kind(shape, element, is_open):
    sizes = ["?" if is_open and i == 0 and len(shape) > 2 else str(size) for i, size in enumerate(shape)]
    return f"tensor<{'x'.join(sizes + [element])}>"


def sinkhorn(logits, iterations, epsilon):
    c = np.exp(logits - logits.max(-1, keepdims=True))
    c = c / c.sum(-1, keepdims=True) + epsilon
    for iteration in range(iterations):
        if iteration:
            c = c / (c.sum(-1, keepdims=True) + epsilon)
        c = c / (c.sum(-2, keepdims=True) + epsilon)
    return c


def sinkhorn_grad(dmix, logits, iterations, epsilon):
    """Complex steps: the derivative of each result, without a difference."""
    result = np.zeros_like(logits)
    for i in range(logits.shape[-2]):
        for j in range(logits.shape[-1]):
            moved = logits.astype(complex)
            moved[..., i, j] += 1e-30j
            c = np.exp(moved - logits.max(-1, keepdims=True))
            c = c / c.sum(-1, keepdims=True) + epsilon
            for iteration in range(iterations):
                if iteration:
                    c = c / (c.sum(-1, keepdims=True) + epsilon)
                c = c / (c.sum(-2, keepdims=True) + epsilon)
            result[..., i, j] = (dmix * c.imag / 1e-30).sum((-1, -2))
    return result


BATCH = []


def check(name, op, types, results, arrays, expected, scales):
    """One op on arrays given in storage, and what each result is to be within units of its scale. flush() runs it."""
    BATCH.append((name, op, types, results, arrays, expected, scales))


def flush(name):
    """Runs all ops so far as one program, and compares each result."""
    path = os.path.join(FOLDER, name)
    lines, types, kinds, files, wanted = [], [], [], [], []
    for title, op, operand_types, results, arrays, expected, scales in BATCH:
        shifted = re.sub(r"%a(\d+)", lambda match, first=len(types): f"%a{first + int(match[1])}", op)
        lines.append(", ".join(f"%r{len(kinds) + i}" for i in range(len(results))) + " = " + shifted)
        types, kinds, files = types + operand_types, kinds + results, files + list(arrays)
        wanted += [(title, op, *rest) for rest in zip(results, expected, scales)]
    BATCH.clear()
    names = ", ".join(f"%r{i}" for i in range(len(kinds)))
    signature = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(types))
    with open(path + ".mlir", "w") as program:
        program.write(f"func.func @f({signature}) -> ({', '.join(kinds)}) {{\n  " + "\n  ".join(lines) +
                      f"\n  return {names} : {', '.join(kinds)}\n}}\n")
    for i, array in enumerate(files):
        np.save(f"{path}.{i}.npy", array)
    flags = [f"--arg={path}.{i}.npy" for i in range(len(files))] + [f"--out={path}.out{i}.npy" for i in range(len(kinds))]
    for processor in PROCESSORS:
        command = ["resid-run", path + ".mlir", "--entry=f", "--check", "--mcpu=" + processor, *flags]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode or "failed" in run.stdout:
            sys.exit(f"{name} on {processor}:\n{run.stdout}")
    for i, (title, op, result, value, scale) in enumerate(wanted):
        element = result.rsplit("x", 1)[-1].rstrip(">").split("<")[-1]
        found = loaded(f"{path}.out{i}.npy", element)
        error = np.abs(found - value) - UNIT[element] * scale
        if found.shape != value.shape or not (error <= 0).all():
            sys.exit(f"{title}: {op}\nexpected {value.flat[error.argmax()]} but got {found.flat[error.argmax()]}")


def operands(*shapes_and_types, scale=1.0):
    pairs = [stored(random.standard_normal(shape) * scale, element) for shape, element in shapes_and_types]
    return [file for file, _ in pairs], [value for _, value in pairs]


def check_reads_and_writes(name, shape, element, weight, is_open, wide):
    *rows, n, d = shape
    result = "f32" if wide else element
    tx, ty = kind(shape, element, is_open), kind([*rows, d], element, is_open and len(rows) > 0)
    arrow = lambda shape: f" -> {kind(shape, result, is_open and len(rows) > 0)}" if wide else ""
    open_one = tx.split("<")[1].startswith("?")
    one = f"tensor<{'x'.join((['?'] if open_one else [str(size) for size in rows[:1]]) + [str(size) for size in rows[1:]] + [str(d), result])}>"
    ty = one.replace(f"x{result}>", f"x{element}>")
    tr = tx.replace(f"x{element}>", f"x{result}>")
    arrow_to = lambda target: f" -> {target}" if wide else ""
    shapes = [None, (n, 1), (n, d), (*rows, n, 1), (*rows, n, d)]
    for number, weights in enumerate(shapes):
        files, values = operands((shape, element), *([(weights, weight)] if weights else []))
        x, a = values[0], values[1] if weights else np.ones((n, 1))
        clause, tw = (" weights(%a1)", kind(weights, weight, open_one and len(weights) == len(shape))) if weights else ("", "")
        scale = 0.375 if number % 2 else 1.0
        text = f"resid.read %a0{clause} {{scale = {scale}}} : {tx}{', ' + tw if tw else ''}{arrow_to(one)}"
        check(f"{name}-read{number}", text, [tx, *([tw] if tw else [])], [one], files, [scale * (a * x).sum(-2)],
              [np.abs(a * x).sum(-2) + 1e-30])
    mixes = [(None, False), ((n, n), False), ((*rows, n, n), True), ((n, 1), False), ((*rows, n, 1), False)]
    for number, (mix, transposed) in enumerate(mixes):
        weights = shapes[(number * 2 + 1) % 5]
        has_y = number != 2
        given = [(shape, element)] + ([((*rows, d), element)] if has_y else [])
        given += ([(weights, weight)] if has_y and weights else []) + ([(mix, weight)] if mix else [])
        files, values = operands(*given)
        x, rest = values[0], values[1:]
        y = rest.pop(0)[..., None, :] if has_y else np.zeros((1, d))
        b = rest.pop(0) if has_y and weights else np.ones((n, 1))
        names = iter(range(1, 9))
        text, types = "resid.write %a0", [tx]
        if has_y:
            text, types = text + f", %a{next(names)}", types + [ty]
        stated = [tx]
        for clause, size in (("weights", weights if has_y else None), ("mix", mix)):
            if size:
                tw = kind(size, weight, open_one and len(size) == len(shape))
                text, types, stated = text + f" {clause}(%a{next(names)})", types + [tw], stated + [tw]
        text += (" {transposed}" if transposed else "") + f" : {', '.join(stated)}{arrow_to(tr)}"
        c = rest.pop(0) if mix else np.ones((n, 1))
        if mix and mix[-1] == n:
            c = c if not transposed else np.swapaxes(c, -1, -2)
            mixed, size = np.einsum("...ij,...id->...jd", c, x), np.einsum("...ij,...id->...jd", np.abs(c), np.abs(x))
        else:
            mixed, size = c * x, np.abs(c * x)
        check(f"{name}-write{number}", text, types, [tr], files, [b * y + mixed], [np.abs(b * y) + size + 1e-30])


def check_project(name, shape, element, weight, m, is_open, epsilon=1e-6, scale=1.0):
    *rows, n, d = shape
    files, (x, w) = operands((shape, element), ((m, n * d), weight))
    if scale != 1.0:
        files[0], x = stored(x * scale, element)
    wide = "f64" if "f64" in (element, weight) else "f32"
    tx = kind(shape, element, is_open)
    lead = tx[len("tensor<"):].split("x")[:len(rows)]
    results = [f"tensor<{'x'.join(lead + [str(m), wide])}>", f"tensor<{'x'.join(lead + [wide])}>"]
    tw = kind((m, n * d), weight, False)
    text = f"resid.project %a0, %a1 {{epsilon = {epsilon:.1e}}} : {tx}, {tw} -> {', '.join(results)}"
    flat = x.reshape(*rows, n * d)
    rstd = 1 / np.sqrt((flat**2).mean(-1) + epsilon)
    z, size = (flat @ w.T) * rstd[..., None], (np.abs(flat) @ np.abs(w).T) * rstd[..., None]
    check(name, text, [tx, tw], results, files, [z, rstd], [size + 1e-30, np.abs(rstd) * 2])


def check_mixing(name, shape, element, iterations, epsilon, scale):
    files, (logits, dmix) = operands((shape, element), (shape, element), scale=scale)
    tx = kind(shape, element, len(shape) > 2)
    attributes = f"{{iterations = {iterations}, epsilon = {epsilon:.1e}}}"
    c = sinkhorn(logits, iterations, epsilon)
    check(name, f"resid.sinkhorn %a0 {attributes} : {tx}", [tx], [tx], files[:1], [c], [np.abs(c) * 80 + 1e-30])
    expected = sinkhorn_grad(dmix, logits, iterations, epsilon)
    size = np.abs(dmix).sum((-1, -2), keepdims=True) * iterations
    check(name + "-grad", f"resid.sinkhorn_grad %a1, %a0 {attributes} : {tx}", [tx, tx], [tx], files, [expected], [size * 8])


def check_dots(name, first, second, types, is_open):
    files, (a, b) = operands((first, types[0]), (second, types[1]))
    ta, tb = kind(first, types[0], is_open), kind(second, types[1], is_open)
    wide = "f64" if "f64" in types else "f32"
    tr = kind((*first[:-1], second[-2]), wide, is_open)
    check(name, f"resid.stream_dots %a0, %a1 : {ta}, {tb}", [ta, tb], [tr], files,
          [np.einsum("...id,...jd->...ij", a, b)], [np.einsum("...id,...jd->...ij", np.abs(a), np.abs(b)) * 2])



def check_precision(name, shape, m):
    """Chains of 1,024 keep the digits that one chain over all streams would lose."""
    *rows, n, d = shape
    files, (x, w) = operands((shape, "f32"), ((m, n * d), "f32"))
    files[1], w = stored(w / np.sqrt(n * d), "f32")
    types = [kind(shape, "f32", False), kind((m, n * d), "f32", False)]
    flat = x.reshape(*rows, n * d)
    z = (flat @ w.T) / np.sqrt((flat**2).mean(-1, keepdims=True) + 1e-6)
    text = f"resid.project %a0, %a1 {{epsilon = 1.0e-6}} : {', '.join(types)}"
    check(name, text, types, [kind((*rows, m), "f32", False)], files, [z], [3e-6 * np.maximum(1, np.abs(z)) / UNIT["f32"]])


def check_norm(name, shape, element, weight, is_open):
    """Each stream is normalised by itself, and has a gamma of its own."""
    files, (x, gamma, beta) = operands((shape, element), (shape[1:], weight), (shape[1:], weight))
    tx, tg = kind(shape, element, is_open), kind(shape[1:], weight, False)
    text = f"resid.rms_norm %a0 gamma(%a1) beta(%a2) {{epsilon = 1.0e-5, norm_rank = 1}} : {tx}, {tg}, {tg}"
    normalized = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gamma
    check(name, text, [tx, tg, tg], [tx], files, [normalized + beta], [np.abs(normalized) + np.abs(beta) + 1])


def check_hard_rows(element):
    """Transitions of zeros, huge and tiny numbers, equal streams and logits far apart, beside each other: by blocks of rows and without, on the
    scalar path, and written where they were read, with the same bits."""
    rows, n, d = 300, 2, 70
    x, y = random.standard_normal((rows, n, d)), random.standard_normal((rows, d))
    huge = 1e30 if element == "f32" else 1e18
    for first, factor in enumerate((0.0, huge, 1e-30)):
        x[first::7] *= factor
        y[first::7] *= factor
    x[3::7] = x[3::7, :1]
    weights, mix = random.standard_normal((rows, n, 1)), random.standard_normal((rows, n, n))
    project, gamma = random.standard_normal((8, n * d)) / 10, random.standard_normal(d)
    given = [stored(array, kind)[0] for array, kind in (
        (x, element), (y, element), (weights, "f32"), (mix, "f32"), (project, "f32"), (np.ones(3), "f32"), (random.standard_normal(8) * 30, "f32"), (gamma, element))]
    flags = []
    for i, array in enumerate(given):
        np.save(os.path.join(FOLDER, f"hard.{i}.npy"), array)
        flags.append(f"--arg={FOLDER}/hard.{i}.npy")
    program, found = os.path.join(os.path.dirname(__file__), "stream-transition.mlir"), []
    for way in (["product-row-blocks=1"], ["product-row-blocks=0"], ["product-row-blocks=1", "--in-place"], ["path=scalar", "--in-place"]):
        files = [f"{FOLDER}/hard.out{i}.npy" for i in range(4)]
        command = ["resid-run", program, f"--entry=t_{element}", "--check", f"--schedule={way[0]}", *way[1:], *flags, *(f"--out={file}" for file in files)]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode or "failed" in run.stdout:
            sys.exit(f"hard rows of {element}, {' '.join(way)}:\n{run.stdout}")
        found.append([open(file, "rb").read() for file in files])
        if found[-1] != found[0]:
            sys.exit(f"hard rows of {element}: expected the same bits with {' '.join(way)}")


cases = [
    ("a", (5, 4, 33), "f32", "f32", False, False), ("b", (3, 2, 64), "bf16", "f32", True, True),
    ("c", (2, 3, 3, 17), "f16", "bf16", True, False), ("d", (4, 130), "f64", "f64", False, False),
    ("e", (7, 1, 20), "f32", "f32", True, False), ("f", (2, 6, 1), "f32", "f16", False, False),
]
for case in cases:
    check_reads_and_writes(*case)
    flush(case[0])
check_project("p0", (5, 4, 33), "f32", "f32", 24, False)
check_project("p1", (3, 4, 700), "bf16", "f32", 24, True)
check_project("p2", (2, 3, 2, 1024), "f32", "bf16", 8, True)
check_project("p3", (4, 256), "f32", "f32", 4, False)
check_project("p4", (3, 2, 600), "f64", "f64", 3, False)
check_project("p5", (3, 4, 300), "f32", "f32", 5, True, scale=1e30)
check_project("p6", (3, 4, 300), "f32", "f32", 1, True, epsilon=0.0, scale=1e-30)
flush("projections")
for number, case in enumerate([((6, 4, 4), "f32", 20, 1e-6, 1.0), ((2, 3, 3, 3), "f32", 3, 1e-3, 3.0), ((4, 4), "f64", 5, 1e-8, 1.0),
                               ((5, 1, 1), "f32", 2, 1e-6, 1.0), ((3, 6, 6), "f32", 1, 0.0, 1.0), ((3, 2, 2), "f64", 4, 1e-6, 2.0)]):
    check_mixing(f"m{number}", *case)
flush("mixes")
check_precision("wide", (6, 4, 7168), 24)
check_norm("n0", (5, 4, 33), "f32", "f32", True)
check_norm("n1", (3, 2, 130), "bf16", "f32", False)
check_dots("s0", (5, 4, 33), (5, 4, 33), ("f32", "f32"), True)
check_dots("s1", (2, 3, 1500), (2, 2, 1500), ("bf16", "f32"), False)
check_dots("s2", (3, 8), (1, 8), ("f64", "f32"), False)
flush("rest")
for element in ("f32", "bf16"):
    check_hard_rows(element)
print("all within their bounds")
