# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes every combination of what a chain of bias, dropout, add and norm may have, one function each, to standard output.
import itertools

KINDS = ["layer_norm", "rms_norm", "dyt", "group_norm"]
AFFINE = ["", "gamma", "gamma_beta"]
DROPOUT = {"": "", "dropout": "", "origin": "origin(%row, %layer) ", "shard": "origin(%row, %layer, %col) extent(%local, %global) "}
GATES = {"": None, "scalar_gate": "", "feature_gate": "8x", "full_gate": "?x4x8x"}
# stream, sum, normalised
TYPES = {"f64": ("f64", "f64", "f64"), "bf16": ("bf16", "bf16", "bf16"), "wide": ("bf16", "f32", "bf16")}
STATISTICS = {"layer_norm": 3, "rms_norm": 1, "group_norm": 3}


def chain(name, kind, affine, bias, dropout, gate, scaled, types, rank, statistics):
    stream, total, normalized = (f"tensor<?x4x8x{t}>" for t in TYPES[types])
    parameter = "f64" if types == "f64" else "f32"
    lines, branch = [], "%f"
    if bias:
        lines.append(f"%b = resid.add_bias {branch}, %bias : {stream}, tensor<8x{parameter}>")
        branch = "%b"
    if dropout:
        lines.append(f"%d = resid.dropout {branch} seed(%seed, %step) {DROPOUT[dropout]}{{p = 0.1, site = 3}} : {stream}")
        branch = "%d"
    gate_type = "" if GATES[gate] is None else f"tensor<{GATES[gate]}{TYPES[types][0]}>"
    clause = " gate(%gate)" if gate_type else ""
    scales = " {branch_scale = 0.5, skip_scale = 1.2}" if scaled else ""
    arrow = f" -> {total}" if total != stream else ""
    lines.append(f"%s = resid.add %x, {branch}{clause}{scales} : {stream}{', ' + gate_type if gate_type else ''}{arrow}")
    parameter_type = f"tensor<{'4x' if rank == 2 else ''}8x{parameter}>"
    clauses, clause_types, attributes = "", [total], []
    if kind == "dyt":
        clauses += " alpha(%alpha)"
        clause_types.append(f"tensor<{parameter}>")
    else:
        attributes.append("epsilon = 1.0e-5")
        if kind == "group_norm":
            attributes.append("groups = 2")
        if rank == 2 and not affine:
            attributes.append("norm_rank = 2")
    for clause in affine.split("_") if affine else []:
        clauses += f" {clause}(%{clause})"
        clause_types.append(parameter_type)
    if affine == "gamma":
        attributes += ["narrow_affine", "zero_centered_gamma"]
    results = [normalized]
    statistic = f"tensor<?x{'4x' if rank == 1 else ''}{'2x' if kind == 'group_norm' else ''}{parameter}>"
    results += [statistic] * (STATISTICS[kind] if statistics else 0)
    names = ["%n"] + [f"%statistic{i}" for i in range(len(results) - 1)]
    arrow = f" -> {', '.join(results)}" if results != [total] else ""
    attributes = f" {{{', '.join(attributes)}}}" if attributes else ""
    lines.append(f"{', '.join(names)} = resid.{kind} %s{clauses}{attributes} : {', '.join(clause_types)}{arrow}")
    names.append("%s")
    results.append(total)
    lines.append(f"return {', '.join(names)} : {', '.join(results)}")
    arguments = [f"%x: {stream}", f"%f: {stream}", f"%bias: tensor<8x{parameter}>", f"%alpha: tensor<{parameter}>"]
    arguments += [f"%gamma: {parameter_type}", f"%beta: {parameter_type}"] + ([f"%gate: {gate_type}"] if gate_type else [])
    arguments += [f"%{scalar}: i64" for scalar in ("seed", "step", "row", "layer", "col", "local", "global")]
    print(f"func.func @{name}({', '.join(arguments)}) -> ({', '.join(results)}) {{")
    print("  " + "\n  ".join(lines) + "\n}")


for case in itertools.product(KINDS, AFFINE, [False, True], DROPOUT, GATES, [False, True], TYPES, [1, 2], [False, True]):
    kind, affine, bias, dropout, gate, scaled, types, rank, statistics = case
    if (kind == "dyt" and (statistics or (rank == 2 and not affine))) or (dropout and rank == 2) \
            or (kind == "group_norm" and rank == 2):
        continue
    words = [kind, affine, "bias" if bias else "", dropout, gate, "scaled" if scaled else "", types]
    words += [f"rank{rank}", "statistics" if statistics else ""]
    chain("_".join(filter(None, words)), *case)
