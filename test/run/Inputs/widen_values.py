# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gives a program several residual streams by residc, fills the new parameters with the initial values of the manifest, and compares
# what it computes with the program as it was, and with that of one stream again; and the gradients of both.
# Usage: widen_values.py <program> <folder>. Prints a line for each case.

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


def initial(parameter, folder):
    """The file of a new parameter as the manifest says it begins."""
    values = numpy.array(parameter["initial"], dtype=numpy.float32)
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


def main():
    program, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [f"f32[{ROWS}x{WIDTH}]=random:1"] + [f"f32[{WIDTH}]=random:{2 + i}" for i in range(LAYERS + 1)]
    one = evaluate(program, arguments, folder / "one.npy")
    for streams, connection in ((2, "static"), (3, "static"), (4, "static"), (2, "ihc"), (4, "ihc"), (3, "mhc"), (4, "mhc")):
        wide, manifest = folder / "wide.mlir", folder / "manifest.json"
        run("residc", program, f"--streams={streams}", f"--connection={connection}", "--emit=mlir", "-o", wide,
            f"--manifest={manifest}")
        record = json.loads(manifest.read_text())
        assert all(parameter["action"] == "new" for parameter in record["parameters"]), record
        given = arguments + [initial(parameter, folder) for parameter in record["parameters"]]
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
