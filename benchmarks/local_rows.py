# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# local_rows.py RESIDC [--schedule=…] [SHAPE…]: time of values computed again over the time of values in local rows, as
# the ratio of medians of calls by turns in one process. Not part of bench.py, whose kernels have one type throughout.

import array
import ctypes
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

NORMS = {
    "dropout f32 + add + layer norm -> bf16": ("f32", True, "layer"),
    "f32 + bf16, layer norm -> bf16": ("bf16", False, "layer"),
    "f32 + bf16, RMS norm -> bf16": ("bf16", False, "rms"),
}
CALLS = 61
LINE = 64


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
    """The function, with local rows `on` or `off`."""
    (folder / "in.mlir").write_text(text)
    name = folder / form
    subprocess.run([residc, folder / "in.mlir", "-o", f"{name}.o", f"--schedule=local-rows={form}{schedule}"], check=True)
    subprocess.run(["cc", "-shared", "-o", f"{name}.so", f"{name}.o"], check=True)
    return ctypes.CDLL(f"{name}.so").f


def measure(forms, arrays, rows):
    """The median seconds of a call of each form."""
    x, f, g, result = (ctypes.c_void_p(find_line(memory)) for memory in arrays)
    n = ctypes.c_int64(rows)
    times = [[] for _ in forms]
    for call in range(-3, CALLS):
        for form, taken in zip(forms, times):
            begin = time.perf_counter()
            status = form(None, x, n, f, n, g, ctypes.c_int64(1), ctypes.c_int64(2), result)
            taken += [time.perf_counter() - begin] if call >= 0 else []
            assert status == 0
    return [statistics.median(taken) for taken in times]


def make_memory(data):
    """Memory of the bytes with room to begin at a cache line, where they stand."""
    memory = ctypes.create_string_buffer(len(data) + LINE)
    ctypes.memmove(find_line(memory), data, len(data))
    return memory


def find_line(memory):
    address = ctypes.addressof(memory)
    return address + -address % LINE


def make_numbers(kind, count):
    """Normal values, a few thousand of them again and again."""
    period = [random.gauss(0, 1) for _ in range(4099)]
    data = array.array("f", period).tobytes()
    if kind == "bf16":
        data = b"".join(data[place + 2:place + 4] for place in range(0, len(data), 4))
    size = 2 if kind == "bf16" else 4
    return (data * (count * size // len(data) + 1))[:count * size]


def main():
    residc, *rest = sys.argv[1:]
    schedule = "".join("," + word.removeprefix("--schedule=") for word in rest if word.startswith("--schedule="))
    shapes = [word for word in rest if not word.startswith("--")]
    for title, (branch, is_drawn, norm) in NORMS.items():
        ratios = []
        for shape in shapes:
            rows, width = map(int, shape.split("x"))
            arrays = [make_memory(data) for data in (
                make_numbers("f32", rows * width), make_numbers(branch, rows * width),
                array.array("f", [1] * width).tobytes(), bytes(2 * rows * width))]
            with tempfile.TemporaryDirectory() as folder:
                text = program(branch, is_drawn, norm, width)
                forms = [compile_form(residc, pathlib.Path(folder), text, form, schedule) for form in ("off", "on")]
                again, kept = measure(forms, arrays, rows)
            ratios.append(f"{shape} {again / kept:.2f}")
        print(f"{title}: {', '.join(ratios)}", flush=True)


main()
