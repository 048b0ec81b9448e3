# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_group_norms.py FOLDER: one program per element type, width and number of groups. Its function `groups` is add and
# group norm, `layers` the same by a layer norm of the columns of each group. The list of cases goes to standard output.
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
CASES = [("f32", 768, 8), ("f32", 35, 5), ("f32", 9, 9), ("f32", 4128, 3), ("f32", 70, 1), ("f64", 21, 3),
         ("bf16", 195, 3), ("f16", 96, 2)]


def program(element, width, groups):
    size = width // groups
    statistic = f"tensor<?x{groups}x{'f64' if element == 'f64' else 'f32'}>"
    row, part = f"tensor<?x{width}x{element}>", f"tensor<?x{size}x{element}>"
    vector, piece = f"tensor<{width}x{element}>", f"tensor<{size}x{element}>"
    single = f"tensor<?x{'f64' if element == 'f64' else 'f32'}>"
    head = f"(%x: {row}, %f: {row}, %g: {vector}, %b: {vector}) -> ({row}, {row}, {statistic}, {statistic}, {statistic}) {{\n"
    text = f"func.func @groups{head}"
    text += f"  %y, %s, %m, %c, %r = resid.add_norm group %x, %f gamma(%g) beta(%b) {{epsilon = 1.0e-5, groups = {groups}}}\n"
    text += f"      : {row}, {vector}, {vector} -> {row}, {row}, {statistic}, {statistic}, {statistic}\n"
    text += f"  return %y, %s, %m, %c, %r : {row}, {row}, {statistic}, {statistic}, {statistic}\n}}\n"
    groups_text, text = text, f"func.func @layers{head}  %s = resid.add %x, %f : {row}\n"
    for i in range(groups):
        first = i * size
        text += f"  %s{i} = tensor.extract_slice %s[0, {first}] [5, {size}] [1, 1] : {row} to {part}\n"
        for name in "gb":
            text += f"  %{name}{i} = tensor.extract_slice %{name}[{first}] [{size}] [1] : {vector} to {piece}\n"
        text += f"  %y{i}, %m{i}, %c_{i}, %r{i} = resid.layer_norm %s{i} gamma(%g{i}) beta(%b{i}) {{epsilon = 1.0e-5}}\n"
        text += f"      : {part}, {piece}, {piece} -> {part}, {single}, {single}, {single}\n"
        for name in ("m", "c_", "r"):
            text += f"  %{name}x{i} = tensor.expand_shape %{name}{i} [[0, 1]] output_shape [5, 1] : {single} into {single.replace('?x', '?x1x')}\n"
    def concat(name, type_, result):
        operands = ", ".join(f"%{name}{i}" for i in range(groups))
        return f"tensor.concat dim(1) {operands} : ({', '.join([type_] * groups)}) -> {result}"
    text += f"  %y = {concat('y', part, row)}\n"
    for name in ("m", "c_", "r"):
        text += f"  %{name} = {concat(name + 'x', single.replace('?x', '?x1x'), statistic)}\n"
    text += f"  return %y, %s, %m, %c_, %r : {row}, {row}, {statistic}, {statistic}, {statistic}\n}}\n"
    # The sizes of concatenations are known where those of the rows are.
    return groups_text + text.replace("<?x", "<5x")


FOLDER.mkdir(parents=True, exist_ok=True)
for element, width, groups in CASES:
    (FOLDER / f"{element}-{width}-{groups}.mlir").write_text(program(element, width, groups))
    print(element, width, groups)
