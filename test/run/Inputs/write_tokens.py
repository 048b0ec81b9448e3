# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_tokens.py FOLDER: a program for each shape and mixture of types of cross-entropy, with its backward, and of
# embeddings: rows of a tail, of more than a block of the ordered sum, of one column, and without rows of their own;
# labels that repeat and that are ignored. The list of cases goes to standard output:
# number;arguments of forward;arguments of backward;further numbers of threads.
import sys

folder = sys.argv[1]


def write(index, text, forward, backward, threads):
    with open(f"{folder}/{index}.mlir", "w") as program:
        program.write(text)
    print(f"{index};{forward};{backward};{threads}")


losses = [
    # shape and type of the logits, type of the labels, ignore_index, sizes in the text
    ("5x77", "f32", "i64", None, "5x77"),
    ("700x16", "f32", "i32", 3, "?x?"),
    ("3x2500", "f32", "i64", -100, "?x2500"),
    ("6x33", "f64", "i32", None, "6x33"),
    ("7x130", "bf16", "i64", 129, "?x130"),
    ("2x5x48", "f16", "i64", None, "2x?x48"),
    ("40", "f32", "i64", None, "40"),
    ("4x1", "f32", "i32", None, "4x1"),
]
for index, (shape, x, label, ignored, sizes) in enumerate(losses):
    *rows, width = [int(size) for size in shape.split("x")]
    count = 1
    for size in rows:
        count *= size
    wide = "f64" if x == "f64" else "f32"
    labels = [(row * row * 7 + width - 1) % width if ignored is None or row % 3 else ignored for row in range(count)]
    of = lambda element, sizes: f"tensor<{'x'.join(sizes + [element])}>"
    open_rows = sizes.split("x")[:-1]
    tx, tl, ts = of(x, sizes.split("x")), of(label, open_rows), of(wide, open_rows)
    attribute = "" if ignored is None else f"{{ignore_index = {ignored}}} "
    per_row = "x".join(map(str, rows)) or ""
    logits, ids = f"--arg={x}[{shape}]=random:1", f"--arg={label}[{per_row}]={','.join(map(str, labels))}"
    write(
        index,
        f"""
func.func @forward(%x: {tx}, %l: {tl}) -> ({ts}, {ts}) {{
  %loss, %lse = resid.cross_entropy %x labels(%l) {attribute}: {tx}, {tl} -> {ts}, {ts}
  return %loss, %lse : {ts}, {ts}
}}
func.func @backward(%d: {ts}, %x: {tx}, %l: {tl}, %lse: {ts}) -> {tx} {{
  %dx = resid.cross_entropy_grad %d, %x labels(%l) logsumexp(%lse) {attribute}: {tx}, {tl}
  return %dx : {tx}
}}
""",
        f"{logits} {ids} --out=%s/loss.npy --out=%s/lse.npy" % (folder, folder),
        f"--arg={wide}[{per_row}]=random:2 {logits} {ids} --arg={folder}/lse.npy",
        "2 5" if count == 700 else "",
    )

tables = [
    # shape of the ids and their type, table
    ("9", "i64", "5x33", "f32"),
    ("2x3x4", "i32", "?x?", "bf16"),
    ("700", "i64", "?x16", "f32"),
    ("3", "i32", "1x7", "f64"),
]
for index, (shape, kind, table, element) in enumerate(tables, len(losses)):
    sizes = [int(size) for size in shape.split("x")]
    count = 1
    for size in sizes:
        count *= size
    real = table.replace("?x?", "6x9").replace("?", "11")
    rows, width = map(int, real.split("x"))
    ids = ",".join(str((i * i * 5 + 3 * i) % rows) for i in range(count))
    ti, tt = f"tensor<{shape.replace(str(sizes[0]), '?', 1)}x{kind}>", f"tensor<{table}x{element}>"
    ty = f"tensor<{shape.replace(str(sizes[0]), '?', 1)}x{table.split('x')[1]}x{element}>"
    lookup = f"--arg={kind}[{shape}]={ids} --arg={element}[{real}]=random:1"
    write(
        index,
        f"""
func.func @forward(%ids: {ti}, %t: {tt}) -> {ty} {{
  %y = resid.embedding %ids, %t : {ti}, {tt}
  return %y : {ty}
}}
func.func @backward(%dy: {ty}, %ids: {ti}, %t: {tt}) -> {tt} {{
  %dt = resid.embedding_grad %dy, %ids like(%t) : {ti}, {tt}
  return %dt : {tt}
}}
""",
        lookup,
        f"--arg={element}[{shape}x{width}]=random:2 {lookup}",
        "2 5" if count == 700 else "",
    )
