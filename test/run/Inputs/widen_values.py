# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gives a program several residual streams by residc, fills the new parameters with the initial values of the manifest, and compares
# what it computes with the program as it was, and with that of one stream again; and the gradients of both.
# Usage: widen_values.py <program> <program of gated> <folder>. Prints a line for each case.

import json
import pathlib
import subprocess
import sys

import numpy

ROWS, WIDTH, LAYERS = 7, 24, 4


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def evaluate(program, arguments, out, *flags):
    run("resid-run", program, *[f"--arg={argument}" for argument in arguments], f"--out={out}", *flags)
    return numpy.load(out)


def initial(parameter, folder, known):
    """The file of a new parameter as the manifest says it begins; `known` are arrays of other parameters."""
    rule = parameter["initial"]
    if isinstance(rule, dict) and "normal" in rule:
        values = numpy.random.default_rng(5).normal(0.0, rule["normal"], parameter["shape"]).astype(numpy.float32)
    elif isinstance(rule, dict):
        row = (rule["factor"] * known[rule["of"]].astype(numpy.float64) + rule["offset"]).astype(numpy.float32)
        values = numpy.broadcast_to(row, parameter["shape"])
    else:
        values = numpy.array(rule, dtype=numpy.float32)
    array = numpy.broadcast_to(values, parameter["shape"]) if values.ndim == 0 else values.reshape(parameter["shape"])
    path = folder / f"{parameter['name']}.npy"
    numpy.save(path, numpy.ascontiguousarray(array))
    return path


def differentiate(program, arguments, folder, *flags):
    """The value, and the gradients of all arguments, held against the evaluator."""
    written = folder / "gradients.mlir"
    run("residc", program, *flags, "--grad=stack", "--grad-mode=value-and-grad", "--emit=mlir", "-o", written)
    outs = [folder / f"gradient{i}.npy" for i in range(len(arguments) + 1)]
    given = [*arguments, f"f32[{ROWS}x{WIDTH}]=random:99"]
    run("resid-run", written, "--entry=stack_value_and_grad", "--check", *[f"--arg={argument}" for argument in given],
        *[f"--out={out}" for out in outs])
    return [numpy.load(out).astype(numpy.float64) for out in outs]


def compare_gradients(program, folder, arguments, given, parameters):
    one = differentiate(program, arguments, folder)
    several = differentiate(program, given, folder, "--streams=4", "--connection=mhc")
    for expected, found in zip(one, several):
        error = numpy.max(numpy.abs(expected - found))
        assert error <= 3e-6 * numpy.max(numpy.abs(expected)), error
    # With the weight 0 the scale has no gradient yet, and everything else learns.
    for parameter, found in zip(parameters, several[len(one):]):
        assert numpy.any(found) == (not parameter["name"].endswith("_scale")), parameter["name"]
    print("gradients: close", flush=True)


def make_gammas(folder):
    """Files of arguments, by their names: gammas of all bits."""
    random, known = numpy.random.default_rng(3), {}
    for name in ("g0", "g1", "g2", "g3", "g"):
        known[name] = random.normal(1.0, 0.3, WIDTH).astype(numpy.float32)
        numpy.save(folder / f"{name}.npy", known[name])
    return known


def widen_gated(program, folder):
    """γ of every bit: twice it is exact, so that 2 and 4 streams keep every bit, whatever the random weights are."""
    known = make_gammas(folder)
    arguments = [f"f32[{ROWS}x{WIDTH}]=random:1"] + [folder / f"{name}.npy" for name in known]
    one = evaluate(program, arguments, folder / "one.npy")
    for streams in (2, 3, 4):
        wide, manifest = folder / "wide.mlir", folder / "manifest.json"
        run("residc", program, f"--streams={streams}", "--connection=gated", "--emit=mlir", "-o", wide, f"--manifest={manifest}")
        record = json.loads(manifest.read_text())
        given = arguments + [initial(parameter, folder, known) for parameter in record["parameters"]]
        several = evaluate(wide, given, folder / "wide.npy", "--check")
        is_same = numpy.array_equal(one.view(numpy.uint32), several.view(numpy.uint32))
        error = numpy.max(numpy.abs(one.astype(numpy.float64) - several))
        assert error <= 5e-7 * numpy.max(numpy.abs(one)), (streams, error)
        assert is_same or record["class"] == "exact", streams
        print(f"gated {streams}: {record['class']}, {len(record['parameters'])} parameters,", "same bits" if is_same else "close", flush=True)
    one = differentiate(program, arguments, folder)
    several = differentiate(program, given, folder, "--streams=4", "--connection=gated")
    # x's gradient is that of one stream. What is new learns, but for what stands before a weight of 0.
    assert numpy.max(numpy.abs(one[1] - several[1])) <= 3e-6 * numpy.max(numpy.abs(one[1]))
    for parameter, found in zip(record["parameters"], several[len(one):]):
        assert numpy.any(found) == (not parameter["name"].endswith("_down")), parameter["name"]
    print("gradients of gated: close", flush=True)


def main():
    program, gated, folder = (pathlib.Path(argument) for argument in sys.argv[1:4])
    folder.mkdir(parents=True, exist_ok=True)
    widen_gated(gated, folder)
    arguments = [f"f32[{ROWS}x{WIDTH}]=random:1"] + [f"f32[{WIDTH}]=random:{2 + i}" for i in range(LAYERS + 1)]
    one = evaluate(program, arguments, folder / "one.npy")
    for streams, connection in ((2, "static"), (3, "static"), (4, "static"), (2, "ihc"), (4, "ihc"), (3, "mhc"), (4, "mhc")):
        wide, manifest = folder / "wide.mlir", folder / "manifest.json"
        run("residc", program, f"--streams={streams}", f"--connection={connection}", "--emit=mlir", "-o", wide,
            f"--manifest={manifest}")
        record = json.loads(manifest.read_text())
        assert all(parameter["action"] == "new" for parameter in record["parameters"]), record
        given = arguments + [initial(parameter, folder, {}) for parameter in record["parameters"]]
        several = evaluate(wide, given, folder / "wide.npy", "--check")
        is_same = numpy.array_equal(one.view(numpy.uint32), several.view(numpy.uint32))
        error = numpy.max(numpy.abs(one.astype(numpy.float64) - several))
        assert error <= 1e-6 * numpy.max(numpy.abs(one)), (streams, connection, error)
        assert is_same or record["class"] == "exact", (streams, connection)
        print(f"{connection} {streams}: {record['class']}, {len(record['parameters'])} parameters,",
              "same bits" if is_same else "close", flush=True)
        if (streams, connection) == (4, "mhc"):
            compare_gradients(program, folder, arguments, given, record["parameters"])
        if connection != "static":
            continue
        back = folder / "back.mlir"
        run("residc", wide, "--streams=1", "--emit=mlir", "-o", back, f"--manifest={manifest}")
        again = evaluate(back, given, folder / "back.npy")
        assert numpy.array_equal(one.view(numpy.uint32), again.view(numpy.uint32))
        dropped = [parameter["name"] for parameter in json.loads(manifest.read_text())["parameters"]]
        assert sorted(dropped) == sorted(parameter["name"] for parameter in record["parameters"]), dropped
        print(f"{connection} {streams} to 1: same bits", flush=True)


if __name__ == "__main__":
    main()
