# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# local_rows.py BUILD [--schedule=…] [SHAPE…]: time of values computed again over the time of values in local rows, as
# the ratio of medians of calls by turns. Has programs of its own beside bench.py, whose kernels have one type throughout.

import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile

from harness import cases, measure, native

NORMS = {
    "dropout f32 + add + layer norm -> bf16": ("f32", True, "layer"),
    "f32 + bf16, layer norm -> bf16": ("bf16", False, "layer"),
    "f32 + bf16, RMS norm -> bf16": ("bf16", False, "rms"),
}
SAMPLES = 61


def program(branch, is_drawn, norm, width):
    """The function `f` of one width."""
    rows, vector = f"tensor<?x{width}xf32>", f"tensor<{width}xf32>"
    step = (f"%d = resid.dropout %f seed(%a, %b) {{p = 0.1, site = 0}} : {rows}" if is_drawn else
            f"%d = arith.extf %f : tensor<?x{width}x{branch}> to {rows}")
    beta, types = (" beta(%g)", f"{vector}, {vector}") if norm == "layer" else ("", vector)
    return f"""func.func @f(%x: {rows}, %f: tensor<?x{width}x{branch}>, %g: {vector}, %a: i64, %b: i64) -> tensor<?x{width}xbf16> {{
  {step}
  %s = resid.add %x, %d : {rows}
  %y = resid.{norm}_norm %s gamma(%g){beta} {{epsilon = 1.0e-5}} : {rows}, {types}
  %r = arith.truncf %y : {rows} to tensor<?x{width}xbf16>
  return %r : tensor<?x{width}xbf16>
}}
"""


def compile_form(residc, folder, text, form, schedule):
    """The address of the function, with local rows `on` or `off`."""
    (folder / "in.mlir").write_text(text)
    name = folder / form
    subprocess.run([residc, folder / "in.mlir", "-o", f"{name}.o", f"--schedule=local-rows={form}{schedule}"], check=True)
    subprocess.run(["cc", "-shared", "-o", f"{name}.so", f"{name}.o"], check=True)
    return native.address_of(ctypes.CDLL(f"{name}.so"), "f")


def median_times(side, forms, arrays, rows):
    """The median nanoseconds of a call of each form."""
    arguments = [0, arrays["x"], rows, arrays["f"], rows, arrays["gamma"], *cases.SCALARS.values(), arrays["y"]]
    ways = [native.Sequence(side, [native.make_call(form, arguments)]) for form in forms]
    times = [[measure.sample(way, 1) for way in ways] for _ in range(3 + SAMPLES)][3:]
    return [statistics.median(taken) for taken in zip(*times)]


def compare(side, residc, schedule, norm, shape):
    """The time with values computed again over the time with local rows."""
    branch, is_drawn, kind = norm
    rows, width = map(int, shape.split("x"))
    arrays = native.Arrays(side, [(rows, width)])
    for seed, (name, count, size) in enumerate((("x", rows * width, 4), ("f", rows * width, cases.SIZES[branch]),
                                                ("gamma", width, 4))):
        side.functions.bench_fill(arrays[name], count, size, seed + 1, 0.25)
    with tempfile.TemporaryDirectory() as folder:
        text = program(branch, is_drawn, kind, width)
        forms = [compile_form(residc, pathlib.Path(folder), text, form, schedule) for form in ("off", "on")]
        again, kept = median_times(side, forms, arrays, rows)
    return again / kept


def main():
    build, *rest = sys.argv[1:]
    side = native.Native(pathlib.Path(build) / "lib" / "libresid-benchmarks.so")
    schedule = "".join("," + word.removeprefix("--schedule=") for word in rest if word.startswith("--schedule="))
    shapes = [word for word in rest if not word.startswith("--")]
    for title, norm in NORMS.items():
        ratios = [f"{shape} {compare(side, pathlib.Path(build) / 'bin' / 'residc', schedule, norm, shape):.2f}"
                  for shape in shapes]
        print(f"{title}: {', '.join(ratios)}", flush=True)


main()
