# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Cases of ops on several streams, whole stacks and their gradients, and products of many shapes: some with edges in tiles of
# each size.

import dataclasses
import pathlib
import subprocess

import cases
import programs


class Writer:
    """Writes programs to a folder, and remembers their cases."""

    def __init__(self, folder, residc, kind="streams"):
        self.folder, self.residc, self.kind, self.cases = pathlib.Path(folder), residc, kind, []

    def add(self, name, text, arguments, results, *flags):
        path = self.folder / name.replace(" ", "_")
        path.with_suffix(".mlir").write_text(text, encoding="utf-8")
        self.cases.append(cases.Case(self.kind, str(path), 0, tuple(arguments), results, flags=flags))


def tensor(shape, element):
    return f"tensor<{'x'.join(str(size) for size in [*shape, element])}>"


def function(to, name, op, results, arrays, shown=None, shows_results=False):
    """One op on arguments %a0, %a1, …; `arrays` are shapes and elements of these, and whether the first size is open. `shown` are the arguments whose types the op names."""
    kinds = [tensor(["?" if is_open else shape[0], *shape[1:]], element) for shape, element, is_open in arrays]
    values, types = ", ".join(f"%r{i}" for i in range(len(results))), ", ".join(results)
    text = f"func.func @f({', '.join(f'%a{i}: {kind}' for i, kind in enumerate(kinds))}) -> ({types}) {{\n"
    text += f"  {values} = {op} : {', '.join(kinds[i] for i in shown or range(len(kinds)))}{f' -> {types}' if shows_results else ''}\n  return {values} : {types}\n}}\n"
    given = programs.name_arrays(" ".join(f"{element}[{'x'.join(str(size) for size in shape)}]" for shape, element, _ in arrays))
    to.add(name, text, given, len(results))


def project(to, n, width, m, rows, element, weight):
    result = "f64" if "f64" in (element, weight) else "f32"
    function(to, f"project {n}x{width} to {m} {element} {weight} {rows} rows", "resid.project %a0, %a1 {epsilon = 1.0e-6}",
             [f"tensor<?x{m}x{result}>", f"tensor<?x{result}>"], [((rows, n, width), element, True), ((m, n * width), weight, False)], shows_results=True)


def packed_project(to, n, width, m, rows, weight):
    """With a weight in the panel that resid-pack-weights makes of few columns; terms of bf16 come in pairs."""
    terms, columns, pairs = n * width, -(-m // 8) * 8, weight == "bf16"
    panels = f"tensor<1x{-(-terms // 2)}x{columns}x2x{weight}>" if pairs else f"tensor<1x{terms}x{columns}x{weight}>"
    tiles = f"inner_dims_pos = [0, 1] inner_tiles = [{columns}, 2]" if pairs else f"outer_dims_perm = [0, 1] inner_dims_pos = [0] inner_tiles = [{columns}]"
    x, matrix, z = f"tensor<?x{n}x{width}xf32>", f"tensor<{m}x{terms}x{weight}>", f"tensor<?x{m}xf32>"
    text = f"""func.func @f(%x: {x}, %w: {panels}) -> {z} {{
  %e = tensor.empty() : {matrix}
  %m = linalg.unpack %w {tiles} into %e : {panels} -> {matrix}
  %z = resid.project %x, %m {{epsilon = 1.0e-6}} : {x}, {matrix}
  return %z : {z}
}}
"""
    shape = f"1x{-(-terms // 2)}x{columns}x2" if pairs else f"1x{terms}x{columns}"
    to.add(f"packed project {m} {weight}", text, programs.name_arrays(f"f32[{rows}x{n}x{width}] {weight}[{shape}]"), 1)


def sinkhorn(to, op, n, iterations, rows, element):
    """The op is sinkhorn or sinkhorn_grad."""
    kind, array = f"tensor<?x{n}x{n}x{element}>", ((rows, n, n), element, True)
    operands = ["%a0", "%a1"] if op == "sinkhorn_grad" else ["%a0"]
    function(to, f"{op} {n} {iterations} {element}", f"resid.{op} {', '.join(operands)} {{iterations = {iterations}, epsilon = 1.0e-6}}", [kind],
             [array] * len(operands), shown=[0])


def dots(to, n, m, width, rows, element):
    function(to, f"stream_dots {n} {m} {width} {element}", "resid.stream_dots %a0, %a1", [f"tensor<?x{n}x{m}xf32>"],
             [((rows, n, width), element, True), ((rows, m, width), element, True)])


def read_and_write(to, n, width, rows, element):
    x, weights, mix = ((rows, n, width), element, True), ((rows, n, 1), "f32", True), ((rows, n, n), "f32", True)
    function(to, f"read {n} {width} {element}", "resid.read %a0 weights(%a1)", [f"tensor<?x{width}x{element}>"], [x, weights])
    function(to, f"write {n} {width} {element}", "resid.write %a0, %a1 weights(%a2) mix(%a3)", [f"tensor<?x{n}x{width}x{element}>"],
             [x, ((rows, width), element, True), weights, mix], shown=[0, 2, 3])


def product(to, rows, columns, terms, a, b, *, bias=False, transposed=False):
    """A linear layer, in all layouts of its weight."""
    weight = (terms, columns) if transposed else (columns, terms)
    arrays = [((rows, terms), a, True), (weight, b, False)] + ([((columns,), b, False)] if bias else [])
    words = f"{' bias' if bias else ''}{' transposed' if transposed else ''}"
    function(to, f"product {rows} {columns} {terms} {a} {b}{words}", f"resid.linear %a0, %a1{' bias(%a2)' if bias else ''}{' {transposed}' if transposed else ''}",
             [f"tensor<?x{columns}x{a}>"], arrays)


def batched(to, name, count, rows, columns, terms, element, result):
    """Products whose results begin as arrays."""
    a, b, c = (tensor([count, *shape], kind) for shape, kind in (((rows, terms), element), ((terms, columns), element), ((rows, columns), result)))
    text = f"""func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %y = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %y : {c}
}}
"""
    shapes = [f"{element}[{count}x{rows}x{terms}]", f"{element}[{count}x{terms}x{columns}]", f"{result}[{count}x{rows}x{columns}]"]
    to.add(f"{name} {count} {rows} {columns} {terms} {element}", text, programs.name_arrays(" ".join(shapes)), 1)


def tiles(to):
    """Products by tiles of each size, at their edges: few rows, and results that begin as arrays. Large tiles are those
    of 256 results of more than 64 rows and columns, and small ones those of 96 of more than 32."""
    for rows, columns, terms, a, b in [(1, 33, 70, "f32", "bf16"), (8, 64, 64, "f64", "f64"), (7, 100, 129, "f16", "f16"),
                                       (9, 65, 8, "bf16", "bf16"), (64, 128, 17, "f32", "f32"), (130, 64, 16, "f64", "f64")]:
        product(to, rows, columns, terms, a, b, bias=rows % 2 == 1)
        product(to, rows, columns, terms, a, b, transposed=True)
    for count, rows, columns, terms, element in [(256, 65, 66, 9, "f32"), (256, 66, 65, 16, "f32"), (96, 33, 35, 37, "f32"),
                                                 (96, 34, 33, 35, "f64"), (2, 70, 67, 33, "f32"), (3, 5, 40, 65, "f32")]:
        batched(to, "tiles", count, rows, columns, terms, element, element)
    # Each of the rest of the terms is added, and none of zeros: a sum of -0 stays -0.
    text = """func.func @f(%x: tensor<9x3xf32>, %w: tensor<64x3xf32>, %c: tensor<9x64xf32>) -> tensor<9x64xf32> {
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<9x3xf32>, tensor<64x3xf32>) outs(%c : tensor<9x64xf32>) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}
"""
    for x, w in (("0", "-1"), ("inf", "0"), ("1e-40", "1"), ("nan", "1")):
        to.add(f"tiles of {x} {w}", text, [f"f32[9x3]={x}", f"f32[64x3]={w}", "f32[9x64]=-0"], 1)


def batches(to):
    """Batches, contracted loops that are not neighbours in memory, and results that begin as arrays."""
    text = """func.func @f(%a: tensor<?x5x37xf32>, %b: tensor<?x37x9xf32>, %c: tensor<?x5x9xf32>) -> tensor<?x5x9xf32> {
  %y = linalg.batch_matmul ins(%a, %b : tensor<?x5x37xf32>, tensor<?x37x9xf32>) outs(%c : tensor<?x5x9xf32>) -> tensor<?x5x9xf32>
  return %y : tensor<?x5x9xf32>
}
"""
    to.add("batches", text, programs.name_arrays("f32[3x5x37] f32[3x37x9] f32[3x5x9]"), 1)
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
    to.add("two contracted loops", text, programs.name_arrays("f32[3x40x7] f32[7x33x3] f32[40x33]"), 1)


def points(to):
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
    to.add("points", text, programs.name_arrays("f32[33x5x7] f32[33x7]"), 3)


def write_stack(to, name, width, element="f32"):
    """The sub-layers of a stack on one stream."""
    program = to.folder / f"{name}_of_one.mlir"
    text = (cases.INPUTS / "pre_and_peri_stack.mlir").read_text(encoding="utf-8")
    program.write_text(text.replace("24xf32", f"{width}x{element}"), encoding="utf-8")
    return program


def stack(to, connection, streams, gradients, width=24):
    """The sub-layers of a stack on several streams, and all gradients. Parameters are far from their initial values."""
    name = f"{connection} {streams}" + (f" {width} columns" if width != 24 else "")

    def compile_with(source, *flags):
        return subprocess.run([to.residc, source, *flags, "--emit=mlir", "-o", "-"], check=True, capture_output=True, text=True).stdout

    wide = compile_with(write_stack(to, name.replace(" ", "_"), width), f"--streams={streams}", f"--connection={connection}")
    arguments = programs.read_arguments(wide, 3)
    to.add(name, wide, arguments, 1)
    both = compile_with(to.folder / f"{name.replace(' ', '_')}.mlir", "--grad=stack", "--grad-mode=value-and-grad")
    to.add(f"{name} with gradients", both, [*arguments, f"f32[3x{width}]=random:99"], gradients, "--entry=stack_value_and_grad")


def choose_ops(folder, residc=None):
    to = Writer(folder, residc)
    # Chains: less than one, exactly one, several, more than the warps of a block have at a time.
    for shape in ((4, 33, 24, 37, "f32", "f32"), (4, 256, 24, 3, "bf16", "f32"), (4, 300, 24, 65, "f32", "bf16"), (2, 1024, 8, 2, "f16", "f32"),
                  (4, 2304, 4, 2, "f32", "f32"), (3, 700, 9, 5, "f64", "f64"), (1, 1, 1, 1, "f32", "f32"), (4, 257, 64, 0, "f32", "f32")):
        n, width, m, rows, element, weight = shape
        project(to, n, width, m, rows, element, weight)
    packed_project(to, 4, 300, 20, 5, "f32")
    packed_project(to, 3, 33, 8, 3, "bf16")
    for n, iterations, rows, element in ((4, 20, 133, "f32"), (1, 1, 3, "f32"), (2, 3, 5, "f64"), (6, 4, 9, "f32")):
        sinkhorn(to, "sinkhorn", n, iterations, rows, element)
        sinkhorn(to, "sinkhorn_grad", n, iterations, rows, element)
    dots(to, 4, 4, 300, 5, "f32")
    dots(to, 4, 1, 64, 7, "bf16")
    for n, width, rows, element in ((4, 256, 9, "f32"), (3, 33, 5, "bf16")):
        read_and_write(to, n, width, rows, element)
    to.cases += [dataclasses.replace(case, flags=("--in-place",)) for case in to.cases if "write_" in case.name]
    for rows, columns, terms, a, b in ((70, 33, 65, "f32", "f32"), (3, 8, 257, "bf16", "bf16"), (1, 130, 5, "f32", "f32"), (40, 40, 40, "f64", "f64"),
                                       (33, 9, 17, "f16", "f16")):
        product(to, rows, columns, terms, a, b, bias=rows % 2 == 1)
        product(to, rows, columns, terms, a, b, transposed=True)
    tiles(to)
    batches(to)
    points(to)
    function(to, "chains in another order", "resid.project %a0, %a1 {epsilon = 1.0e-6}", ["tensor<?x24xf32>"], [((3, 4, 640), "f32", True), ((24, 2560), "f32", False)], shows_results=True)
    # Chains that warps share meet at barriers, in whatever order threads run.
    last = to.cases.pop()
    return to.cases + [dataclasses.replace(last, order=order) for order in ("backward", "random=1", "random=2")]


def choose_stacks(folder, residc):
    to = Writer(folder, residc)
    for connection, streams, gradients in (("static", 4, 14), ("gated", 2, 20), ("ihc", 3, 19), ("mhc", 4, 19)):
        stack(to, connection, streams, gradients)
    # Rows in registers, whose pointers are computed by each pass; and rows that overflow, for which more is computed again.
    stack(to, "static", 4, 14, width=64)
    forward = to.cases[-2]
    to.cases.append(dataclasses.replace(forward, arguments=("f32[3x64]=1e30", *forward.arguments[1:])))
    return to.cases


def choose_wide_stacks(folder, residc):
    """Gradients of stacks whose streams would take more registers than a thread has."""
    to = Writer(folder, residc)
    for element in ("f32", "bf16"):
        for width in (64, 256, 1024, 4096):
            for connection in ("mhc", "ihc", "static"):
                program = write_stack(to, f"{connection}_{width}_{element}", width, element)
                flags = ("--streams=4", f"--connection={connection}", "--grad=stack", "--grad-mode=value-and-grad", "--emit=mlir")
                both = subprocess.run([residc, program, *flags, "-o", "-"], check=True, capture_output=True, text=True).stdout
                to.add(f"wide {connection} {width} {element}", both, (), 0)
    return to.cases


def choose_matrices(folder, residc=None):
    """Products of 16-bit floats on matrix units: all layouts, rows that copies of 16 bytes suit and others, edges of tiles along rows, columns and terms, results that begin as
    arrays, panels; large tiles, which are those of 256 results of more than 64 rows and columns; few rows, which keep their order."""
    to = Writer(folder, residc, "matrices")
    for rows, columns, terms, element in ((9, 33, 70, "bf16"), (64, 128, 96, "f16"), (130, 70, 33, "bf16"), (17, 64, 200, "f16")):
        product(to, rows, columns, terms, element, element, bias=rows % 2 == 1)
        product(to, rows, columns, terms, element, element, transposed=True)
    for count, rows, columns, terms, element in ((256, 65, 66, 17, "bf16"), (3, 40, 56, 72, "f16")):
        batched(to, "matrices", count, rows, columns, terms, element, "f32")
    text = """func.func @f(%x: tensor<72x48xbf16>, %w: tensor<72x88xbf16>, %c: tensor<48x88xf32>) -> tensor<48x88xf32> {
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<72x48xbf16>, tensor<72x88xbf16>) outs(%c : tensor<48x88xf32>) -> tensor<48x88xf32>
  return %y : tensor<48x88xf32>
}
"""
    to.add("matrices with rows side by side", text, programs.name_arrays("bf16[72x48] bf16[72x88] f32[48x88]"), 1)
    text = """func.func @f(%x: tensor<?x40xbf16>, %w: tensor<4x20x16x2xbf16>) -> tensor<?x64xf32> {
  %e = tensor.empty() : tensor<64x40xbf16>
  %m = linalg.unpack %w inner_dims_pos = [0, 1] inner_tiles = [16, 2] into %e : tensor<4x20x16x2xbf16> -> tensor<64x40xbf16>
  %y = resid.linear %x, %m : tensor<?x40xbf16>, tensor<64x40xbf16> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
"""
    to.add("matrices in panels", text, programs.name_arrays("bf16[21x40] bf16[4x20x16x2]"), 1)
    product(to, 3, 64, 64, "bf16", "bf16")
    chosen = [dataclasses.replace(case, flags=("--relax-rounding=products", *case.flags), kernel="tiles" if "_3_64" in case.name else "matrices") for case in to.cases]
    return chosen + [dataclasses.replace(chosen[1], order=order) for order in ("backward", "random=1")]


def choose_edges(folder, residc=None):
    """Products whose edges lie in tiles of each size."""
    to = Writer(folder, residc)
    for element in ("f32", "bf16", "f16", "f64"):
        product(to, 9, 4099, 4097, element, element)
        product(to, 9, 4099, 4097, element, element, transposed=True)
    return to.cases


def choose(folder, residc):
    """From sm_100 on, an instruction adds two products of f32."""
    ops = choose_ops(folder, residc)
    pairs = [dataclasses.replace(case, order="chip=100") for case in ops if "_64_128_17_f32" in case.name or "_70_33_65_f32" in case.name]
    return ops + pairs + choose_stacks(folder, residc)
