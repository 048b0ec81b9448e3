# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuda_streams.py FOLDER: ops on several streams, whole stacks and their gradients, and products of many shapes, run on
# the GPU's interpreter and on the CPU (resid-run --backend=cuda --check). A result with other bits ends the run.
# cuda_streams.py FOLDER write: writes the programs of single ops alone. cuda_streams.py FOLDER spills: assembles the
# stacks, and products whose sizes no tile divides, with ptxas. A kernel that spills registers, or has a stack, ends the run.

import os
import subprocess
import sys

FOLDER, MODE = sys.argv[1], (sys.argv[2:] or ["run"])[0]
INPUTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(INPUTS, "../../gpu"))
import ptxas  # of this repository
from beside_cpu import compare


def run(name, program, arguments, *flags):
    """Does with one program what the mode says."""
    if not program.endswith(".mlir"):
        path = os.path.join(FOLDER, name.replace(" ", "_") + ".mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        program = path
    if MODE == "write":
        return None
    if MODE == "spills":
        return assemble(name, program)
    return compare(name, program, arguments, *flags)


def assemble(name, program):
    kernels, _ = ptxas.compile_and_assemble("residc", program, "sm_90", ptxas.find_tool("ptxas"), os.path.join(FOLDER, "program.ptx"))
    mistakes = [kernel.describe() for kernel in kernels if kernel.has_memory()]
    assert not mistakes, f"{name}: {mistakes}"
    print(f"{name}: {len(kernels)} kernels without a spill", flush=True)


def tensor(shape, element):
    return f"tensor<{'x'.join(str(size) for size in [*shape, element])}>"


def function(name, op, operands, results, arrays, *flags):
    """One op on arguments %a0, %a1, …; `arrays` are shapes and elements of these, of which the first size is open."""
    kinds = [tensor(["?" if is_open else shape[0], *shape[1:]], element) for shape, element, is_open in arrays]
    values = ", ".join(f"%r{i}" for i in range(len(results)))
    text = f"func.func @f({', '.join(f'%a{i}: {kind}' for i, kind in enumerate(kinds))}) -> ({', '.join(results)}) {{\n"
    text += f"  {values} = {op} : {operands}\n  return {values} : {', '.join(results)}\n}}\n"
    given = [f"{element}[{'x'.join(str(size) for size in shape)}]=random:{i + 1}" for i, (shape, element, _) in enumerate(arrays)]
    run(name, text, given, *flags)


def project(n, width, m, rows, element, weight):
    result = "f64" if "f64" in (element, weight) else "f32"
    x, w, z, rstd = (f"tensor<?x{n}x{width}x{element}>", f"tensor<{m}x{n * width}x{weight}>", f"tensor<?x{m}x{result}>",
                     f"tensor<?x{result}>")
    function(f"project {n}x{width} to {m} {element} {weight} {rows} rows", "resid.project %a0, %a1 {epsilon = 1.0e-6}",
             f"{x}, {w} -> {z}, {rstd}", [z, rstd], [((rows, n, width), element, True), ((m, n * width), weight, False)])


def sinkhorn(n, iterations, rows, element):
    kind = f"tensor<?x{n}x{n}x{element}>"
    attributes = f"{{iterations = {iterations}, epsilon = 1.0e-6}}"
    array = ((rows, n, n), element, True)
    function(f"sinkhorn {n} {iterations} {element}", f"resid.sinkhorn %a0 {attributes}", kind, [kind], [array])
    function(f"sinkhorn_grad {n} {iterations} {element}", f"resid.sinkhorn_grad %a0, %a1 {attributes}", kind, [kind],
             [array, array])


def dots(n, m, width, rows, element):
    a, b, y = f"tensor<?x{n}x{width}x{element}>", f"tensor<?x{m}x{width}x{element}>", f"tensor<?x{n}x{m}xf32>"
    function(f"stream_dots {n} {m} {width} {element}", "resid.stream_dots %a0, %a1", f"{a}, {b}", [y],
             [((rows, n, width), element, True), ((rows, m, width), element, True)])


def read_and_write(n, width, rows, element):
    x, y, w = f"tensor<?x{n}x{width}x{element}>", f"tensor<?x{width}x{element}>", f"tensor<?x{n}x1xf32>"
    c = f"tensor<?x{n}x{n}xf32>"
    arrays = [((rows, n, width), element, True), ((rows, width), element, True), ((rows, n, 1), "f32", True),
              ((rows, n, n), "f32", True)]
    function(f"write {n} {width} {element}", "resid.write %a0, %a1 weights(%a2) mix(%a3)", f"{x}, {w}, {c}", [x], arrays)
    function(f"read {n} {width} {element}", "resid.read %a0 weights(%a1)", f"{x}, {w}", [y], [arrays[0], arrays[2]])


def product(rows, columns, terms, a, b, *, bias=False, transposed=False):
    """A linear layer, in all layouts of its weight."""
    weight = [terms, columns] if transposed else [columns, terms]
    x, w, y = f"tensor<?x{terms}x{a}>", tensor(weight, b), f"tensor<?x{columns}x{a}>"
    more = " bias(%a2)" if bias else ""
    kinds = f"{x}, {w}" + (f", tensor<{columns}x{b}>" if bias else "")
    arrays = [((rows, terms), a, True), (tuple(weight), b, False)] + ([((columns,), b, False)] if bias else [])
    name = f"product {rows} {columns} {terms} {a} {b}{' bias' if bias else ''}{' transposed' if transposed else ''}"
    function(name, f"resid.linear %a0, %a1{more}{' {transposed}' if transposed else ''}", kinds, [y], arrays)


def tiles():
    """Products by tiles of each size, at their edges: few rows, and results that begin as arrays. Large tiles are those
    of 256 results of more than 64 rows and columns, and small ones those of 96 of more than 32."""
    for rows, columns, terms, a, b in [(1, 33, 70, "f32", "bf16"), (8, 64, 64, "f64", "f64"), (7, 100, 129, "f16", "f16"),
                                       (9, 65, 8, "bf16", "bf16"), (64, 128, 17, "f32", "f32"), (130, 64, 16, "f64", "f64")]:
        product(rows, columns, terms, a, b, bias=rows % 2 == 1)
        product(rows, columns, terms, a, b, transposed=True)
    for count, rows, columns, terms, element in [(256, 65, 66, 9, "f32"), (256, 66, 65, 16, "f32"), (96, 33, 35, 37, "f32"),
                                                 (96, 34, 33, 35, "f64"), (2, 70, 67, 33, "f32"), (3, 5, 40, 65, "f32")]:
        a, b, c = (tensor([count, *shape], element) for shape in ((rows, terms), (terms, columns), (rows, columns)))
        text = f"""func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %y = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %y : {c}
}}
"""
        shapes = [f"{element}[{count}x{rows}x{terms}]=random:1", f"{element}[{count}x{terms}x{columns}]=random:2", f"{element}[{count}x{rows}x{columns}]=random:3"]
        run(f"tiles {count} {rows} {columns} {terms} {element}", text, shapes)
    # Each of the rest of the terms is added, and none of zeros: a sum of -0 stays -0.
    text = """func.func @f(%x: tensor<9x3xf32>, %w: tensor<64x3xf32>, %c: tensor<9x64xf32>) -> tensor<9x64xf32> {
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<9x3xf32>, tensor<64x3xf32>) outs(%c : tensor<9x64xf32>) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}
"""
    for x, w in (("0", "-1"), ("inf", "0"), ("1e-40", "1"), ("nan", "1")):
        run(f"tiles of {x} {w}", text, [f"f32[9x3]={x}", f"f32[64x3]={w}", "f32[9x64]=-0"])


def batches():
    """Batches, contracted loops that are not neighbours in memory, and results that begin as arrays."""
    text = """func.func @f(%a: tensor<?x5x37xf32>, %b: tensor<?x37x9xf32>, %c: tensor<?x5x9xf32>) -> tensor<?x5x9xf32> {
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x5x37xf32>, tensor<?x37x9xf32>) outs(%c : tensor<?x5x9xf32>) -> tensor<?x5x9xf32>
  return %y : tensor<?x5x9xf32>
}
"""
    run("batches", text, ["f32[3x5x37]=random:1", "f32[3x37x9]=random:2", "f32[3x5x9]=random:3"])
    text = """#a = affine_map<(i, j, k, l) -> (k, i, l)>
#b = affine_map<(i, j, k, l) -> (l, j, k)>
#y = affine_map<(i, j, k, l) -> (i, j)>
func.func @f(%a: tensor<3x40x7xf32>, %b: tensor<7x33x3xf32>, %c: tensor<40x33xf32>) -> tensor<40x33xf32> {
  %y = linalg.generic {indexing_maps = [#a, #b, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<3x40x7xf32>, tensor<7x33x3xf32>) outs(%c : tensor<40x33xf32>) {
  ^bb0(%x: f32, %w: f32, %s: f32):
    %p = arith.mulf %x, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<40x33xf32>
  return %y : tensor<40x33xf32>
}
"""
    run("two contracted loops", text, ["f32[3x40x7]=random:1", "f32[7x33x3]=random:2", "f32[40x33]=random:3"])


def points():
    """What is no row program: sums of rows, transposes, indices, columns of arrays, and loops on elements."""
    text = """#x = affine_map<(i, j, k) -> (i, j, k)>
#t = affine_map<(i, j, k) -> (k, i, j)>
#s = affine_map<(i, j, k) -> (i, k)>
func.func @f(%x: tensor<?x5x7xf32>, %zero: tensor<?x7xf32>) -> (tensor<?x7xf32>, tensor<7x?x5xf32>, tensor<5x7xf32>) {
  %sum = linalg.generic {indexing_maps = [#x, #s], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<?x5x7xf32>) outs(%zero : tensor<?x7xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    linalg.yield %c : f32
  } -> tensor<?x7xf32>
  %zero_index = arith.constant 0 : index
  %rows = tensor.dim %x, %zero_index : tensor<?x5x7xf32>
  %empty = tensor.empty(%rows) : tensor<7x?x5xf32>
  %turned = linalg.transpose ins(%x : tensor<?x5x7xf32>) outs(%empty : tensor<7x?x5xf32>) permutation = [2, 0, 1]
  %none = tensor.empty() : tensor<5x7xf32>
  %numbers = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%none : tensor<5x7xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to i64
    %m = arith.sitofp %l : i64 to f32
    linalg.yield %m : f32
  } -> tensor<5x7xf32>
  return %sum, %turned, %numbers : tensor<?x7xf32>, tensor<7x?x5xf32>, tensor<5x7xf32>
}
"""
    run("points", text, ["f32[33x5x7]=random:1", "f32[33x7]=random:2"])


def stack(connection, streams):
    """The sub-layers of a stack on several streams, and all gradients. Parameters are far from their initial values."""
    source, wide = os.path.join(INPUTS, "pre_and_peri_stack.mlir"), os.path.join(FOLDER, f"{connection}.mlir")
    subprocess.run(["residc", source, f"--streams={streams}", f"--connection={connection}", "--emit=mlir", "-o", wide], check=True)
    both = os.path.join(FOLDER, f"{connection}_both.mlir")
    subprocess.run(["residc", wide, "--grad=stack", "--grad-mode=value-and-grad", "--emit=mlir", "-o", both], check=True)
    with open(wide, encoding="utf-8") as file:
        head = next(line for line in file if "func.func @stack" in line)
    kinds = [part.split(">")[0].split("x") for part in head.split("->")[0].split("tensor<")[1:]]
    arguments = [f"{kind[-1]}[{'x'.join('3' if size == '?' else size for size in kind[:-1])}]=random:{i + 1}"
                 for i, kind in enumerate(kinds)]
    run(f"{connection} {streams}", wide, arguments)
    run(f"{connection} {streams} with gradients", both, [*arguments, "f32[3x24]=random:99"], "--entry=stack_value_and_grad")


def ops():
    # Chains: less than one, exactly one, several, more than the warps of a block have at a time.
    for shape in ((4, 33, 24, 37, "f32", "f32"), (4, 256, 24, 3, "bf16", "f32"), (4, 300, 24, 65, "f32", "bf16"), (2, 1024, 8, 2, "f16", "f32"),
                  (4, 2304, 4, 2, "f32", "f32"), (3, 700, 9, 5, "f64", "f64"), (1, 1, 1, 1, "f32", "f32"), (4, 257, 64, 0, "f32", "f32")):
        n, width, m, rows, element, weight = shape
        project(n, width, m, rows, element, weight)
    for n, iterations, rows, element in ((4, 20, 133, "f32"), (1, 1, 3, "f32"), (2, 3, 5, "f64"), (6, 4, 9, "f32")):
        sinkhorn(n, iterations, rows, element)
    dots(4, 4, 300, 5, "f32")
    dots(4, 1, 64, 7, "bf16")
    for n, width, rows, element in ((4, 256, 9, "f32"), (3, 33, 5, "bf16")):
        read_and_write(n, width, rows, element)
    for rows, columns, terms, a, b in ((70, 33, 65, "f32", "f32"), (3, 8, 257, "bf16", "bf16"), (1, 130, 5, "f32", "f32"), (40, 40, 40, "f64", "f64"),
                                       (33, 9, 17, "f16", "f16")):
        product(rows, columns, terms, a, b, bias=rows % 2 == 1)
        product(rows, columns, terms, a, b, transposed=True)
    tiles()
    batches()
    points()


def main():
    os.makedirs(FOLDER, exist_ok=True)
    if MODE == "spills":
        for element in ("f32", "bf16", "f16", "f64"):
            product(9, 4099, 4097, element, element)
            product(9, 4099, 4097, element, element, transposed=True)
    else:
        ops()
    if MODE != "write":
        for connection, streams in (("static", 4), ("gated", 2), ("ihc", 3), ("mhc", 4)):
            stack(connection, streams)


if __name__ == "__main__":
    main()
