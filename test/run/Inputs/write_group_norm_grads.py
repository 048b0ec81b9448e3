# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_group_norm_grads.py FOLDER: a program for each element type, width and number of groups. Its function `forward` gives the
# statistics of a group norm, `groups` its backward, and `layers` the backward of a layer norm for each group's columns: dx, dgamma
# and dbeta of both. The list of cases goes to standard output: number, type, rows, width, groups.
import sys

folder = sys.argv[1]
cases = [("f32", "5", 77, 7), ("f32", "700", 16, 2), ("f64", "3x4", 33, 3), ("bf16", "5", 130, 2), ("f16", "5", 24, 24), ("f32", "2", 2600, 2)]
for index, (element, rows, width, groups) in enumerate(cases):
    wide = "f64" if element == "f64" else "f32"
    columns = width // groups
    lead = rows.split("x")
    x, g, s = f"tensor<{rows}x{width}x{element}>", f"tensor<{width}x{element}>", f"tensor<{rows}x{groups}x{wide}>"
    px, pg, ps = f"tensor<{rows}x{columns}x{element}>", f"tensor<{columns}x{element}>", f"tensor<{rows}x{wide}>"
    arguments = f"%dy: {x}, %x: {x}, %m: {s}, %c: {s}, %r: {s}, %g: {g}, %dsum: {x}"
    body, parts = "", [[], [], []]
    zeros, ones = ", ".join("0" for _ in lead), ", ".join("1" for _ in lead)
    sizes = ", ".join(lead)
    for group in range(groups):
        first = group * columns
        for name in ("dy", "x", "dsum"):
            body += f"  %{name}{group} = tensor.extract_slice %{name}[{zeros}, {first}] [{sizes}, {columns}] [{ones}, 1] : {x} to {px}\n"
        for name in "mcr":
            body += f"  %{name}{group} = tensor.extract_slice %{name}[{zeros}, {group}] [{sizes}, 1] [{ones}, 1] : {s} to {ps}\n"
        body += f"  %g{group} = tensor.extract_slice %g[{first}] [{columns}] [1] : {g} to {pg}\n"
        body += f"  %o{group}:3 = resid.layer_norm_grad %dy{group}, %x{group} statistics(%m{group}, %c{group}, %r{group}) gamma(%g{group}) sum(%dsum{group}) : {px}, {px}, {ps}, {pg}\n"
        for result in range(3):
            parts[result].append(f"%o{group}#{result}")
    for result, (part, dimension, whole) in enumerate([(px, len(lead), x), (pg, 0, g), (pg, 0, g)]):
        body += f"  %whole{result} = tensor.concat dim({dimension}) {', '.join(parts[result])} : ({', '.join([part] * groups)}) -> {whole}\n"
    with open(f"{folder}/{index}.mlir", "w") as text:
        text.write(f"""
func.func @forward(%x: {x}) -> ({s}, {s}, {s}) {{
  %y, %m, %c, %r = resid.group_norm %x {{epsilon = 1.0e-5, groups = {groups}}} : {x} -> {x}, {s}, {s}, {s}
  return %m, %c, %r : {s}, {s}, {s}
}}
func.func @groups({arguments}) -> ({x}, {g}, {g}) {{
  %dx, %dg, %db = resid.group_norm_grad %dy, %x statistics(%m, %c, %r) gamma(%g) sum(%dsum) {{groups = {groups}}} : {x}, {x}, {s}, {g}
  return %dx, %dg, %db : {x}, {g}, {g}
}}
func.func @layers({arguments}) -> ({x}, {g}, {g}) {{
{body}  return %whole0, %whole1, %whole2 : {x}, {g}, {g}
}}
""")
    print(index, element, rows, width, groups)
