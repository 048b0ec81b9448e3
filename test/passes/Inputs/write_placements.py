# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_placements.py TYPE FOLDER: writes, for each case of CASES, a program of several stacks of resid.block
# (CASE.mlir), what resid-convert-norm-placement is to make of it (CASE.flat.mlir, in flat ops by the formulas of the
# placements), the pass's options, and arguments for both. Every norm has parameters of its own.
import os
import sys

TYPE, FOLDER = sys.argv[1], sys.argv[2]
WIDTH = 9
STREAM = f"tensor<2x3x{WIDTH}x{TYPE}>"
PARAMETER_TYPE = "f64" if TYPE == "f64" else "f32"
VECTOR, SCALAR = f"tensor<{WIDTH}x{PARAMETER_TYPE}>", f"tensor<{PARAMETER_TYPE}>"

# Norm kind and attributes of the sub-layers of a stack, and of the norms around it.
SUBLAYERS = [("layer", ["gamma", "beta"], False), ("rms", ["gamma"], True), ("dyt", ["alpha", "gamma", "beta"], False)]
ENTRY, FINAL = ("group", ["gamma", "beta"], False), ("layer", ["gamma"], False)

WANTS_FINAL_NORM = {"post": False, "pre": True, "branch_post": True, "peri": True, "post_shifted": True, "none": False}

# By placements: which norm of the source takes each place of the target; None is a new one.
KEEP = {
    ("post", "peri"): [0, None],
    ("pre", "peri"): [0, None],
    ("post_shifted", "peri"): [0, None],
    ("branch_post", "peri"): [None, 0],
    ("peri", "post"): [0],
    ("peri", "pre"): [0],
    ("peri", "post_shifted"): [0],
    ("peri", "branch_post"): [1],
}
NORMED = ["post", "pre", "branch_post", "peri", "post_shifted"]

# Options, sources as (placement, has an entry norm, has a final norm).
CASES = {f"keep_{to}": (to, "keep", [(p, p == "pre", final) for p in NORMED if p != to for final in (False, True)])
         for to in NORMED + ["none"]}
CASES["shift_pre"] = ("pre", "shift", [("post", e, f) for e in (False, True) for f in (False, True)])
CASES["shift_post_shifted"] = ("post_shifted", "shift", [("post", e, f) for e in (False, True) for f in (False, True)])
CASES["shift_post"] = ("post", "shift", [("pre", False, True), ("pre", True, True), ("post_shifted", False, False),
                                         ("post_shifted", True, False), ("post_shifted", False, True)])


class Program:
    """One function, line by line, and its arguments."""

    def __init__(self):
        self.arguments, self.values, self.lines, self.count = [], [], [], 0

    def argument(self, name, type_, value):
        self.arguments.append(f"%{name}: {type_}")
        self.values.append(value)
        return f"%{name}"

    def result(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def write(self, path, name, results):
        with open(path, "w") as out:
            out.write(f"func.func @{name}({', '.join(self.arguments)}) -> ({', '.join([STREAM] * len(results))}) {{\n  ")
            out.write("\n  ".join(self.lines))
            out.write(f"\n  return {', '.join(results)} : {', '.join([STREAM] * len(results))}\n}}\n")


def norm_arguments(programs, prefix, norm, seed):
    """The parameters of one norm as arguments of all programs."""
    names = {}
    for index, parameter in enumerate(norm[1]):
        shape, type_ = ("", SCALAR) if parameter == "alpha" else (WIDTH, VECTOR)
        for program in programs:
            value = f"{PARAMETER_TYPE}[{shape}]=random:{seed + index}"
            names[parameter] = program.argument(f"{prefix}_{parameter}", type_, value)
    return norm, names


def clause(bound):
    (kind, parameters, centered), names = bound
    text = " ".join(f"{p} {names[p]} : {SCALAR if p == 'alpha' else VECTOR}" for p in parameters)
    attributes = ([] if kind == "dyt" else ["epsilon = 1.0e-3"]) + (["groups = 3"] if kind == "group" else [])
    return f"norm({kind} {text} {' '.join(attributes)}{' zero_centered_gamma' if centered else ''})"


def flat_norm(program, bound, value):
    (kind, parameters, centered), names = bound
    op = kind if kind == "dyt" else kind + "_norm"
    attributes = ([] if kind == "dyt" else ["epsilon = 1.0e-3"]) + (["zero_centered_gamma"] if centered else [])
    attributes += ["groups = 3"] if kind == "group" else []
    types = [STREAM] + [SCALAR if p == "alpha" else VECTOR for p in parameters]
    operands = " ".join(f"{p}({names[p]})" for p in parameters)
    return program.result(f"resid.{op} {value} {operands} {{{', '.join(attributes)}}} : {', '.join(types)}")


BRANCHES = ["math.absf", "math.exp", "math.tanh"]
SKIPS = ["1.0", "1.5", "0.75"]


def block(program, placement, norms, x, layer):
    body = f"{{\n  ^bb0(%h: {STREAM}):\n    %f = {BRANCHES[layer]} %h : {STREAM}\n    resid.yield %f : {STREAM}\n  }}"
    dropout = f"dropout(0.25, site {layer}, seed %seed, step %step)" if layer == 1 else ""
    return program.result(f"resid.block {placement} {x} {' '.join(map(clause, norms))} {dropout} gate(%gate : {VECTOR}) "
                          f"{{skip_scale = {SKIPS[layer]}}} : {STREAM} {body}")


def flat_block(program, placement, norms, x, layer):
    """The formula of each placement."""
    stream = flat_norm(program, norms[0], x) if placement == "post_shifted" else x
    value = flat_norm(program, norms[0], stream) if placement in ("pre", "peri") else stream
    value = program.result(f"{BRANCHES[layer]} {value} : {STREAM}")
    if placement in ("branch_post", "peri"):
        value = flat_norm(program, norms[-1], value)
    if layer == 1:
        value = program.result(f"resid.dropout {value} seed(%seed, %step) {{p = 0.25, site = {layer}}} : {STREAM}")
    value = program.result(f"resid.add {stream}, {value} gate(%gate) {{skip_scale = {SKIPS[layer]}}} : {STREAM}, {VECTOR}")
    return flat_norm(program, norms[0], value) if placement == "post" else value


def write_keep(to, sources):
    blocks, flat = Program(), Program()
    both, stacks, results = [blocks, flat], [], ([], [])
    for program in both:
        program.argument("x", STREAM, f"{TYPE}[2x3x{WIDTH}]=random:1")
        program.argument("gate", VECTOR, f"{PARAMETER_TYPE}[{WIDTH}]=random:2")
        program.argument("seed", "i64", "7")
        program.argument("step", "i64", "8")
    for number, (placement, entry, final) in enumerate(sources):
        prefix, seed = f"s{number}", 100 * number + 100
        norms = [[norm_arguments(both, f"{prefix}_n{layer}_{i}", norm, seed + 10 * layer + 5 * i)
                  for i in range(2 if placement == "peri" else 1)] for layer, norm in enumerate(SUBLAYERS)]
        stacks.append((placement, norms, norm_arguments(both, f"{prefix}_e", ENTRY, seed + 50) if entry else None,
                       norm_arguments(both, f"{prefix}_f", FINAL, seed + 60) if final else None))
        x = flat_norm(blocks, stacks[-1][2], "%x") if entry else "%x"
        for layer in range(len(SUBLAYERS)):
            x = block(blocks, placement, norms[layer], x, layer)
        results[0].append(flat_norm(blocks, stacks[-1][3], x) if final else x)
    for number, (placement, norms, entry, final) in enumerate(stacks):
        prefix, seed = f"t{number}", 100 * number + 5000
        x = flat_norm(flat, entry, "%x") if entry else "%x"
        for layer, norm in enumerate(SUBLAYERS):
            places = [] if to == "none" else KEEP.get((placement, to), [0])
            taken = [norms[layer][p] if p is not None else
                     norm_arguments([flat], f"{prefix}_n{layer}", norm, seed + 10 * layer) for p in places]
            x = flat_block(flat, to, taken, x, layer)
        if WANTS_FINAL_NORM[to]:
            x = flat_norm(flat, final or norm_arguments([flat], f"{prefix}_f", SUBLAYERS[-1], seed + 60), x)
        results[1].append(x)
    return blocks, flat, results


def write_shift(to, sources):
    blocks, flat = Program(), Program()
    both, results = [blocks, flat], ([], [])
    for program in both:
        program.argument("x", STREAM, f"{TYPE}[2x3x{WIDTH}]=random:1")
        program.argument("gate", VECTOR, f"{PARAMETER_TYPE}[{WIDTH}]=random:2")
        program.argument("seed", "i64", "7")
        program.argument("step", "i64", "8")
    for number, (placement, has_entry, has_final) in enumerate(sources):
        prefix, seed = f"s{number}", 100 * number + 100
        norms = [norm_arguments(both, f"{prefix}_n{layer}", norm, seed + 10 * layer) for layer, norm in enumerate(SUBLAYERS)]
        entry = norm_arguments(both, f"{prefix}_e", ENTRY, seed + 50) if has_entry else None
        final = norm_arguments(both, f"{prefix}_f", FINAL, seed + 60) if has_final else None
        x = flat_norm(blocks, entry, "%x") if entry else "%x"
        for layer in range(len(SUBLAYERS)):
            x = block(blocks, placement, [norms[layer]], x, layer)
        results[0].append(flat_norm(blocks, final, x) if final else x)
        if placement == "post":
            shifted, x, after = [entry] + norms[:-1], "%x", [norms[-1]] + ([final] if final else [])
        else:
            x = flat_norm(flat, entry, "%x") if entry else "%x"
            shifted, x, after = norms[1:] + [final], flat_norm(flat, norms[0], x), []
        for layer, norm in enumerate(shifted):
            x = flat_block(flat, to if norm else "none", [norm], x, layer)
        for norm in after:
            x = flat_norm(flat, norm, x)
        results[1].append(x)
    return blocks, flat, results


os.makedirs(FOLDER, exist_ok=True)
for case, (to, params, sources) in CASES.items():
    blocks, flat, results = (write_keep if params == "keep" else write_shift)(to, sources)
    path = os.path.join(FOLDER, case)
    blocks.write(path + ".mlir", "f", results[0])
    flat.write(path + ".flat.mlir", "f", results[1])
    for suffix, text in [("options", f"to={to} params={params}"), ("args", "\n".join(f"--arg={v}" for v in flat.values)),
                         ("names", "\n".join(f"{i}_{s[0]}.npy" for i, s in enumerate(sources)))]:
        with open(f"{path}.{suffix}", "w") as out:
            out.write(text + "\n")
with open(os.path.join(FOLDER, "cases"), "w") as out:
    out.write("\n".join(CASES) + "\n")
