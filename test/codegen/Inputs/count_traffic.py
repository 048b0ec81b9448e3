# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a report of residc and counts, per function: kernels; in how many passes the body loads each input and each output's
# own row; stores. Fails where a function is not one kernel without refusals, where an operand is listed twice, or where bytes exceed the minimum.
# Usage: count_traffic.py REPORT.json

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
failures = 0


def expect(condition, message):
    global failures
    if not condition:
        failures += 1
        print("error:", message)


def terms(count):
    """A sum of products as a dictionary from products of sizes to their factor."""
    result = {}
    for term in str(count).split(" + "):
        factor, *sizes = term.split("*")
        result[tuple(sizes)] = result.get(tuple(sizes), 0) + int(factor)
    return result


def add(counts):
    result = {}
    for count in counts:
        for sizes, factor in terms(count).items():
            result[sizes] = result.get(sizes, 0) + factor
    return result


for function in report["functions"]:
    kernels = [kernel for kernel in report["kernels"] if kernel["function"] == function["name"]]
    expect(len(kernels) == 1, f"{function['name']}: {len(kernels)} kernels")
    expect(not function["other_ops"], f"{function['name']}: ops outside of kernels")
    for kernel in kernels:
        operands = kernel["operands"]
        names = [operand["name"] for operand in operands]
        expect(len(set(names)) == len(names), f"{kernel['name']}: an operand twice in {names}")
        expect(add([kernel["bytes_read"], kernel["bytes_written"]]) == terms(kernel["bytes_compulsory"]),
               f"{kernel['name']}: more bytes than the compulsory {kernel['bytes_compulsory']}")
        expect(add(operand["bytes"] for operand in operands) == terms(kernel["bytes_compulsory"]),
               f"{kernel['name']}: bytes of operands")
        expect(all(operand["stores"] == 0 for operand in operands if operand["kind"] == "input"), "a store to an input")
        shown = [f"{o['name']} {o['loads']}" for o in operands if o["kind"] == "input"]
        stored = [f"{o['name']} {o['stores']}" for o in operands if o["kind"] == "output"]
        print(f"{function['name']}: 1 kernel of {len(kernel['fused'])} ops, loads {', '.join(shown)}, stores {', '.join(stored)}")
sys.exit(1 if failures else 0)
