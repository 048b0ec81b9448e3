# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lane_loops.py FOLDER PROCESSOR…: loops whose steps carry numbers of their own, once as they run side by side, and once
# the other way round, which keeps them one after the other. Their results have the same bits, for each type and number
# of steps, on one thread and on three. A step reads a number that is the same for all, and keeps what it reads backwards.

import pathlib
import subprocess
import sys

folder, processors = pathlib.Path(sys.argv[1]), sys.argv[2:]
COUNTS = (0, 1, 7, 16, 17, 3000)

LOOP = """func.func @{name}(%x: tensor<?x3x{t}>, %all: tensor<2x{t}>) -> (tensor<?x3x{t}>, tensor<?x{t}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : {t}
  %rows = tensor.dim %x, %c0 : tensor<?x3x{t}>
  %end = arith.subi %rows, %c1 : index
  %sums = tensor.empty(%rows) : tensor<?x{t}>
  %r:2 = scf.for %n = %c0 to %rows step %c1 iter_args(%y = %x, %z = %sums) -> (tensor<?x3x{t}>, tensor<?x{t}>) {{
    {place}
    %a = tensor.extract %y[%i, %c0] : tensor<?x3x{t}>
    %b = tensor.extract %y[%i, %c2] : tensor<?x3x{t}>
    %s = tensor.extract %all[%c1] : tensor<2x{t}>
    %memory = tensor.empty() : tensor<9x2x{t}>
    %p:2 = scf.for %k = %c0 to %c9 step %c1 iter_args(%q = %a, %kept = %memory) -> ({t}, tensor<9x2x{t}>) {{
      %e = math.exp %q : {t}
      %d = arith.addf %e, %s : {t}
      %f = arith.divf %b, %d : {t}
      %is_small = arith.cmpf olt, %f, %half : {t}
      %g = arith.select %is_small, %f, %b : {t}
      %h = math.fma %g, %q, %half : {t}
      %one = tensor.insert %h into %kept[%k, %c0] : tensor<9x2x{t}>
      %two = tensor.insert %half into %one[%k, %c1] : tensor<9x2x{t}>
      scf.yield %h, %two : {t}, tensor<9x2x{t}>
    }}
    %u = scf.for %k = %c0 to %c9 step %c1 iter_args(%q = %p#0) -> ({t}) {{
      %j = arith.subi %c8, %k : index
      %h = tensor.extract %p#1[%j, %c0] : tensor<9x2x{t}>
      %o = tensor.extract %p#1[%j, %c1] : tensor<9x2x{t}>
      %m = math.fma %h, %o, %q : {t}
      scf.yield %m : {t}
    }}
    %y0 = tensor.insert %p#0 into %y[%i, %c0] : tensor<?x3x{t}>
    %y1 = tensor.insert %s into %y0[%i, %c1] : tensor<?x3x{t}>
    %z0 = tensor.insert %u into %z[%i] : tensor<?x{t}>
    scf.yield %y1, %z0 : tensor<?x3x{t}>, tensor<?x{t}>
  }}
  return %r#0, %r#1 : tensor<?x3x{t}>, tensor<?x{t}>
}}
"""
PLACES = {"lanes": "%i = arith.addi %n, %c0 : index", "steps": "%i = arith.subi %end, %n : index"}


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


for element in ("f32", "f64"):
    (folder / f"{element}.mlir").write_text("".join(LOOP.format(name=name, t=element, place=place)
                                                    for name, place in PLACES.items()))
    for processor in processors:
        code = run("residc", folder / f"{element}.mlir", f"--mcpu={processor}", "--emit=llvm", "-o", "-")
        if "@lanes__steps(" not in code or "@steps__steps(" in code:
            raise SystemExit(f"{element} {processor}: expected lanes in one function of two")
        for count in COUNTS:
            # Infinities come of large numbers, and NaN of those.
            arguments = (f"--arg={element}[{count}x3]=random:{count}*40", f"--arg={element}[2]=0.25,-1.5")
            outputs = {}
            for name in PLACES:
                paths = [folder / f"{name}{i}.npy" for i in range(2)]
                run("resid-run", folder / f"{element}.mlir", f"--entry={name}", f"--mcpu={processor}", *arguments,
                    *(f"--out={path}" for path in paths), f"--threads={3 if name == 'lanes' and count > 17 else 1}")
                outputs[name] = [path.read_bytes() for path in paths]
            if outputs["lanes"] != outputs["steps"]:
                raise SystemExit(f"{element} {processor} {count} steps: other bits")
print("the same bits")
