# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Cases of single tests, test/run/cuda-*.test: by the name of their kind. `make check-gpu` has many more norms.

import dataclasses
import subprocess
import sys

import attention_cases
import cases
import programs
import streams
from cases import Case, make_forward, make_open, make_special
from ptxas import ROOT


def split(text):
    return [word.rsplit(":", 1) for word in text.split()]


def make_plain(kind, program, words, results, **more):
    """A program of the repository, and the function of it after a colon."""
    name, _, entry = program.partition(":")
    return Case(kind, name, 0, programs.name_arrays(words), results, entry=entry, **more)


def make_fixed(kind, name, rows, **more):
    norm, types, width = name.split("-", 1)[0], *name.split("-", 1)[1].rsplit("-", 1)
    return make_forward(kind, norm, types, int(width), rows=int(rows), **more)


def make_strided(kind, width, padding, *flags, kernel=""):
    """Rows with gaps between them."""
    return make_plain(kind, f"strided-{width}", f"f32[6x{width}] f32[{width}]", 1, flags=(f"--row-padding={padding}", *flags), kernel=kernel)


def make_pairs(kind, script, folder, *words, results=None, is_chosen=lambda number: True, on_gpu=False, orders=("",), kernel=""):
    """What a script of run/Inputs writes: `backward` of arrays that `forward` gave. Its list names the results, where they are not told."""
    place = folder / f"{script}-{'-'.join(words)}"
    place.mkdir(exist_ok=True)
    listed = subprocess.run([sys.executable, cases.INPUTS / f"{script}.py", place, *words], check=True, capture_output=True, text=True).stdout
    made = []
    for line in listed.splitlines():
        number, forward, backward, names, *_ = line.split(";")
        for order in orders if is_chosen(int(number)) else ():
            # Cases run side by side, so that each has arrays of its own.
            own = f"{place}/{number}-{order.partition('=')[0]}-"
            before, after = (text.replace(f"{place}/", own).split() for text in (forward, backward))
            made.append(Case(kind, str(place / number), 0, tuple(word.removeprefix("--arg=") for word in after), results or len(names.split()), order=order, entry="backward",
                             kernel=kernel, before=("--entry=forward", *before, *(["--backend=cuda", "--check"] if on_gpu else []))))
    return made


def choose_kernels(folder, _):
    """Rows on which norms go wrong, of every element type, and none at all; several blocks of a sum; dropout; sums down the rows in few and in many groups."""
    kind, benchmarks = "kernels", ROOT / "benchmarks/kernels"
    special = "layer-f32:1 layer-f32:120 layer-f32:768 layer-f32:none layer-bf16:768 layer-f16:120 layer-f64:120 layer_without_epsilon-f32:120 rms-f32:768 rms-f32:2 "
    special += "rms-bf16:120 rms-f16:768 rms-f64:2 layer_backward-f32:120 layer_backward-bf16:768 layer_backward-f64:2 rms_backward-f32:768 rms_backward-f16:120 "
    special += "dyt-f32:768 dyt-bf16:120 dyt-f64:120 l2-f32:768 l2-bf16:120 l2_backward-f32:120"
    made = [make_special(*name.split("-"), width if width == "none" else int(width), True, kind) for name, width in split(special)]
    # The order in which threads run changes nothing.
    made += [make_special("layer", "f32", 768, True, kind, order) for order in ("backward", "random=1", "random=2")]
    for name, words, results in [("add_layer_norm", "f32[3x2500] f32[3x2500] f32[2500] f32[2500]", 2), ("dropout_add_layer_norm", "f32[9x777] f32[9x777] f32[777] f32[777] 7 11", 2),
                                 ("column_sums_f32", "f32[5x100]", 1), ("column_sums_f32", "f32[700x33]", 1), ("column_sums_f32", "f32[8200x3]", 1),
                                 ("column_sums_bf16", "bf16[100x65]", 1), ("column_sums_f32", "f32[0x9]", 1)]:
        made.append(make_plain(kind, str(benchmarks / name), words, results))
    return [*made, *make_pairs(kind, "write_norm_grads", folder), make_strided(kind, 77, 5)]


def choose_registers(folder, _residc):
    """Branches for overflow, subnormals and large means, in rows of one span and of several, and with a last chunk that is not whole; widths from 64 to 32,768, all
    types and mixtures of them, and numbers of rows that leave threads of a block without one."""
    kind = "registers"
    special = "layer-f32:70 layer-f32:250 layer-f32:768 layer-f32:1100 layer-f32:2048 layer-f32:8192 layer-bf16:250 layer-bf16:768 layer-bf16:2048 layer-f16:1100 "
    special += "layer_without_epsilon-f32:250 layer_without_epsilon-f32:2048 rms-f32:768 rms-f32:1100 rms-bf16:250 rms-bf16:2048 dyt-f32:768 dyt-bf16:250"
    fixed = "layer-f32-f32-f32-64:33 rms-f32-f32-f32-66:9 layer-f32-f32-f32-258:9 rms-f32-f32-f32-1000:5 layer-f32-f32-f32-1536:3 layer-f32-f32-f32-4096:2 "
    fixed += "rms-f32-f32-f32-32768:1 layer-bf16-bf16-bf16-64:33 rms-bf16-bf16-bf16-512:9 layer-bf16-bf16-f32-1000:5 layer-bf16-bf16-bf16-3072:2 rms-bf16-bf16-bf16-4096:2 "
    fixed += "layer-bf16-bf16-bf16-16384:1 layer-f16-f16-f16-770:5 rms-f16-f16-f16-2048:2 layer-f32-bf16-f32-768:5 rms-f32-bf16-bf16-1088:3"
    made = [make_special(*name.split("-"), int(width), False, kind) for name, width in split(special)]
    made = [dataclasses.replace(case, flags=cases.MANY) if number % 2 else case for number, case in enumerate(made)]
    made += [make_fixed(kind, name, rows, kernel="registers_1", flags=cases.MANY) for name, rows in split(fixed)]
    # Few rows have more threads each.
    few = "layer-f32-f32-f32-258:9 rms-bf16-bf16-bf16-512:191 layer-bf16-bf16-f32-1000:5 layer-f32-f32-f32-4096:2 layer-bf16-bf16-bf16-16384:1 layer-f32-bf16-f32-770:5"
    made += [make_fixed(kind, name, rows, kernel="registers_0_2") for name, rows in split(few)]
    made.append(make_fixed(kind, "rms-bf16-bf16-bf16-512", 192, kernel="registers_1"))
    made += [make_special("layer", "f32", 2048, False, kind, order) for order in ("backward", "random=1")]
    # Which kernel runs hangs on the addresses of rows: whole vectors, or single elements.
    made += [make_strided(kind, 768, padding, *cases.MANY, kernel=kernel) for padding, kernel in ((0, "registers_1"), (4, "registers_1"), (2, "rows_0"))]
    made += [make_strided(kind, 768, padding, kernel=kernel) for padding, kernel in ((2, "registers_0_2"), (3, "rows_0"))]
    # Heads that are turned after their norm, in the same kernel.
    heads = [("f32", "halves", "f32[2x3x5x128] f32[128] f32[5x64] f32[5x64]", 1, "registers_0_2"), ("bf16", "halves", "bf16[2x3x5x128] bf16[128] f32[5x64] f32[5x64]", 1, "registers_0_2"),
             ("bf16", "pairs", "bf16[2x3x13x128] bf16[128] bf16[128] f32[13x64] f32[13x64]", 2, "registers_0_2"), ("bf16", "pairs", "bf16[2x12x8x128] bf16[128] bf16[128] f32[8x64] f32[8x64]", 2, "registers_1"), ("f32", "some_halves", "f32[3x7x80] f32[80] f32[7x12] f32[7x12]", 1, ""),
             ("f32", "some_pairs", "f32[3x7x77] f32[7x38] f32[7x38]", 1, "rows_0"), ("bf16", "wide", "bf16[3x1100] f32[3x550] f32[3x550]", 2, ""),
             ("f32", "summed", "f32[7x64] f32[7x64] f32[7x32] f32[7x32]", 2, ""), ("f64", "pairs", "f64[2x3x5x128] f64[128] f64[128] f32[5x64] f32[5x64]", 2, "rows_0")]
    text = (cases.INPUTS / "turned-heads.mlir").read_text()
    for element in ("f32", "bf16", "f64"):
        (folder / f"heads-{element}.mlir").write_text(text.replace("TX", element))
    made += [make_plain(kind, f"heads-{element}:{entry}", words, results, kernel=kernel) for element, entry, words, results, kernel in heads]
    # What dropout keeps is drawn once, and a bit of a register afterwards.
    again = [("narrow", "f32", 1024, 5), ("partial", "f32", 250, 9), ("spans", "bf16", 2048, 3), ("wide", "f32", 8192, 2), ("open", "f32", 700, 3)]
    for entry, element, width, rows in again:
        words = f"{element}[{rows}x{width}] {element}[{rows}x{width}] {element}[{width}] {element}[{width}] 7 11"
        made.append(make_plain(kind, f"{cases.INPUTS / 'dropout-again'}:{entry}", words, 1))
    gated = "bf16[9x1024] bf16[9x1024] f32[1024] f32[1024] f32[1024] f32[1024] 7 11"
    made.append(make_plain(kind, f"{cases.INPUTS / 'dropout-again'}:gated", gated, 1))
    return [*made, make_plain(kind, "alone", "f32[5x128]", 2)]


def choose_replaced(_folder, _residc):
    """Results in the buffers of arguments: rows in registers of one span, of several and of eight, several in a block and one; looped rows of odd widths; rows of open
    width; mixed types; rows that begin off the alignment of an access."""
    kind, flag = "replaced", "--in-place"
    fixed = [("add_layer-f32-f32-f32-250", 9, "registers"), ("layer-bf16-bf16-bf16-256", 17, "registers"), ("add_rms-f32-bf16-f32-2048", 3, "registers"),
             ("add_layer-f32-f32-f32-8192", 2, "registers"), ("layer-f32-f32-f32-251", 5, "rows"), ("add_rms-f64-f64-f64-128", 5, "rows"), ("rms-f16-f16-f16-33", 7, "rows"),
             ("add_layer-bf16-bf16-bf16-1100", 3, "registers")]
    made = [make_fixed(kind, name, rows, flags=(flag,), kernel=kernel) for name, rows, kernel in fixed]
    made.append(make_plain(kind, f"{cases.INPUTS / 'points'}:vector", "f32[256] f32[256]", 1, flags=(flag,), kernel="registers"))
    return [*made, make_open("layer", 1088, kind, 9, flags=(flag,)), *(make_strided(kind, 768, padding, flag) for padding in (2, 3, 4))]


def choose_widths(_folder, _residc):
    """The host chooses a kernel by the width. The looped one takes what is no multiple of the columns of an access, below 64, or ends in a span with less than 64
    columns. Two bytes are half a word."""
    kind = "open-widths"
    chosen = [("layer", 9, 250, "registers_1"), ("layer", 3, 1088, "registers_0"), ("layer", 2, 3072, "registers_0"), ("layer", 4, 63, "rows_0"), ("layer", 4, 1030, "rows_0"),
              ("layer", 4, 251, "rows_0"), ("layer", 1, 9216, "rows_0"), ("dropout_rms", 17, 64, "registers_1"), ("dropout_rms", 9, 1000, "registers_1"),
              ("dropout_rms", 2, 3072, "registers_0"), ("dropout_rms", 1, 15360, "registers_0"), ("dropout_rms", 5, 66, "rows_0"), ("backward", 20, 64, "registers_2"),
              ("backward", 9, 1500, "registers_0"), ("backward", 9, 65, "rows_0")]
    made = [make_open(entry, width, kind, rows, kernel=kernel) for entry, rows, width, kernel in chosen]
    made.append(make_plain(kind, f"{ROOT / 'test/run/element-types'}:bytes", "i8[9x250] f32[9x250]", 1, kernel="registers_1"))
    return [*made, make_open("dropout_rms", 3072, kind, 2, order="random=1")]


def choose_backwards(folder, _):
    """Terms of gradients of gamma and beta, which are added up in registers for eight rows at a time. Groups of 128 rows are two units of 64 rows each; the last group
    has one of 64 and one of 36."""
    kind, sums = "backwards", (cases.INPUTS / "sum_rows.mlir").read_text()
    (folder / "sum_rows_narrow.mlir").write_text(sums.replace("64xf32", "2xf32"))
    made = make_pairs(kind, "write_norm_grads", folder, "registers", kernel="registers")
    made += make_pairs(kind, "write_norm_grads", folder, "registers", is_chosen=lambda number: number in (3, 6), orders=("backward", "random=1"))
    return [*made, make_plain(kind, str(cases.INPUTS / "sum_rows"), "f32[65636x64] f32[64]=0", 1), make_plain(kind, "sum_rows_narrow", "f32[65636x2] f32[2]=0", 1)]


def choose_points(folder, _):
    """Transposes, reductions and where their results are, sums of everything, constants, slices, padding, concatenation, convolutions, products; lookups, cross-entropy,
    embeddings and their gradients; numbers of one bit and of four; a scatter of slices; slices that steps of a loop insert."""
    kind = "points"
    entries = [("transpose", "f32[5x133]", 1), ("transpose", "f32[0x3]", 1), ("heads", "f16[2x7x3x5]", 1), ("argmax", "f32[9x31]", 2), ("argmax", "f32[3x0]", 2),
               ("sums", "f32[11x13] f64[17x140]", 2), ("constants", "f32[3x4]", 2), ("moves", "bf16[7x9]", 2), ("convolution", "f32[2x7x6x3] f32[3x2x3x4]", 1),
               ("linear", "bf16[5x37] bf16[19x37] bf16[19]", 1), ("long", "f64[3x5] f64[5x7]", 1), ("batches", "f32[3x5x8] f32[3x8x9] f32[3x5x9]", 1),
               ("softmax", "f32[9x70]", 1), ("softmax", "f32[3x2500]", 1), ("softmax", "f32[5x33]", 1), ("scatter", "f32[2x5] f32[4x5x2] i32[2x2]=3,1,0,0", 1), ("clamped", "index[4]=0,3,7,2 i32[3]=5", 1)]
    made = [make_plain(kind, f"{cases.INPUTS / 'points'}:{entry}", words, results) for entry, words, results in entries]
    for entry, words, results in [("choose", "i1[5x37] f32[5x37]", 1), ("between", "f32[4x133]", 2), ("four_bits", "i32[5x37]", 2)]:
        made.append(make_plain(kind, f"{ROOT / 'test/run/element-types'}:{entry}", words, results))
    made.append(make_plain(kind, f"{ROOT / 'test/run/shared-starts'}:steps", "f32[5x8] f32[2x8]", 4))
    return made + make_pairs(kind, "write_tokens", folder, results=1, is_chosen=lambda number: number <= 4, on_gpu=True)


def choose_movers(_folder, _residc):
    """Moves, of which no kernel touches many more sectors than it needs: transposes whose tiles are not whole, slices, padding, concatenation, rows of a table, keys of a cache,
    broadcasts, and reductions of rows."""
    kind = "movers"
    entries = [("transpose", "f32[70x133]"), ("turn", "bf16[3x80x96]"), ("heads", "f32[2x40x4x64]"), ("beside", "i1[45x70]=1 f64[70x45] f64[45x70]"), ("slice", "f32[40x256]"),
               ("concat", "f32[20x64] f32[20x96]"), ("pad", "f32[20x64]"), ("gather", "f32[50x64] i32[20]=3"), ("broadcast", "f32[20x4x64] f32[20]"), ("spread", "f32[20x64]"),
               ("append", "f32[2x3x16x64] f32[2x3x5x64] 3")]
    made = [make_plain(kind, f"{cases.INPUTS / 'movers'}:{entry}", words, 1, most_sectors=1.3) for entry, words in entries]
    made += [make_plain(kind, f"{cases.INPUTS / 'movers'}:{entry}", words, results, order=order, most_sectors=1.3)
             for entry, words, results in (("sums", "f32[5x37x72] f32[72]", 2), ("written", "f32[200x72]", 1)) for order in ("", "random=1")]
    return made + [make_plain(kind, f"{cases.INPUTS / 'movers'}:{entry}", words, 1, order="random=1", most_sectors=1.3) for entry, words in entries[:2]]


def choose_numbers(_folder, _residc):
    """Numbers in arrays that a host would need: scalars of products and row kernels, what loops and branches carry, sums in loops of their own, places of slices and elements,
    bounds of loops over elements; shapes in arrays."""
    kind = "numbers"
    entries = [("scalars", "f32[9x70] f32[70x33] f32[3] i64[4]=5,6,7,8", 2), ("overwritten", "f32[5x66] 3 f16[2] i1[3]=0,1,0", 2), ("carried", "f32[3x64] 4 f32[]=0.75", 2),
               ("reduced", "f32[4x65] index[2]=3,17 60", 2), ("slices", "f32[9x64] i64[3]=6,2,1 f32[2x64]", 4), ("places", "bf16[3x7x64] i32[2]=2,0 bf16[64x35]", 2),
               ("sized", "f32[50x8] i64[1]=7 3", 2), ("found", "f32[7] f32[7x64]", 1), ("elements", "f32[12] index[3]=4,3,9 f32[4]", 2),
               ("shapes", "f32[10x6] index[2]=20,3 i32[1]=60 i64[2]=4,15", 4), ("known", "f32[6x6]", 1), ("scalar", "f32[1x1] index[0]=1 index[2]=1,1", 2),
               ("seeded", "f32[3x64] i64[4]=1,1,1,1", 2), ("widened", "f32[64] i64[4]=7,1,2,3", 1)]
    made = [make_plain(kind, f"{cases.INPUTS / 'numbers'}:{entry}", words, results) for entry, words, results in entries]
    known = [("indices", "f32[2x3]=1", 4), ("regions", "f32[8] 3 2", 5)]
    made += [make_plain(kind, f"{ROOT / 'test/run/evaluator-knows'}:{entry}", words, results) for entry, words, results in known]
    weights = "f32[5x21] f32[21] f32[21x35] bf16[21x35] f16[21x19] f64[50x19]"
    return [*made, make_plain(kind, str(cases.INPUTS / "packed-weights"), weights, 2), make_plain(kind, f"{ROOT / 'test/embed/Inputs/lookups'}:put", "f32[50x8] f32[3x8] i64[1]=7", 1),
            make_plain(kind, f"{ROOT / 'test/tools/Inputs/grad_blocks'}:shaped", "f32[4x16] index[2]=4,16", 1)]


KINDS = {"kernels": choose_kernels, "registers": choose_registers, "replaced": choose_replaced, "open-widths": choose_widths, "backwards": choose_backwards,
         "points": choose_points, "movers": choose_movers, "numbers": choose_numbers, "attention": attention_cases.choose,
         "relaxed-attention": attention_cases.choose_relaxed, "every-attention": attention_cases.choose_all, "streams": streams.choose, "edges": streams.choose_edges,
         "matrices": streams.choose_matrices,
         "stacks": streams.choose_stacks, "wide-stacks": streams.choose_wide_stacks}


def choose_cases(kinds, folder, residc):
    """The cases of these kinds, whose programs are written to the folder where the repository has none."""
    return [case for kind in kinds if kind in KINDS for case in KINDS[kind](folder, residc)]
