# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways to compute a product, each with something that times it: limits, by hand, compiled by resid, peers.

import ctypes
import math

from . import cases
from ..compiled import Unavailable
from ..native import Sequence, address_of, make_call
from ..variants import Variant

READ_STEP = 256  # bytes that the limit of reading works on at a time
# By hand: order, title, types, whether it has the bits of docs/numerics.md.
HAND_ORDERS = (("chain", "hand-written, one chain", ("f32", "bf16"), True),
               ("two_chains", "hand-written, two chains", ("f32", "bf16"), False),
               ("dot", "hand-written, dot products of pairs", ("bf16",), False))
# Tasks of the peak for one sample, per thread.
LEAST_TASKS, MOST_TASKS = 8, 128


class Ways:
    """All ways of one process; asks each for its variants of a case."""

    def __init__(self, native, arrays, libraries, peers):
        self.native, self.arrays, self.libraries, self.peers = native, arrays, libraries, peers
        self.reasons = []

    def variants(self, case):
        found = []
        if self.native.instructions:
            found += [*self.limits(case), *self.hand_written(case)]
        else:
            self.skip("limits and hand-written kernels", "this processor lacks AVX2 with FMA and BMI2")
        found += self.compiled(case)
        for peer in self.peers:
            try:
                found += peer.variants(case, self.arrays)
            except Unavailable as reason:
                self.skip(peer.title, str(reason))
        return found

    def skip(self, what, reason):
        """Says once why something is not measured."""
        if (what, reason) not in self.reasons:
            self.reasons.append((what, reason))
            print(f"skipped: {what}: {reason}", flush=True)

    def limits(self, case):
        """The time that the arithmetic, or reading the weights, would take at the machine's limit."""
        if case.decodes:
            function, context = self.native.by_hand("read"), self.native.context(case.threads)
            size = case.panel_bytes // READ_STEP * READ_STEP
            calls = [make_call(function, [context, weights, size]) for weights in self.arrays.weights(case, "packed")]
            yield Variant("limit-read", "limit, reading the weights", "limit", in_turn(self.native, calls, case))
            return
        yield self.peak(case, "fma", "limit, fused multiply-adds", "peak")
        if case.type == "bf16" and self.has_dot:
            yield self.peak(case, "dot", "limit, dot products of pairs", "dot peak")

    @property
    def has_dot(self):
        return self.native.instructions == "avx512bf16"

    def peak(self, case, name, title, group):
        count = getattr(self.native.functions, f"{self.native.instructions}_peak_{name}_operations")
        count.restype = ctypes.c_int64
        operations = count()
        tasks = min(max(case.operations // operations, LEAST_TASKS * case.threads), MOST_TASKS * case.threads)
        call = make_call(self.native.by_hand(f"peak_{name}"), [self.native.context(case.threads), tasks])
        sequence = Sequence(self.native, [call], case.threads)
        return Variant(f"limit-{name}", title, group,
                       lambda repeats: sequence.time(repeats) * case.operations / (tasks * operations))

    def hand_written(self, case):
        for order, title, types, has_bits in HAND_ORDERS:
            if case.type not in types or (order == "dot" and not self.has_dot):
                continue
            function = self.native.by_hand(f"hand_product_{case.type}_{order}")
            calls = [make_call(function, [self.native.context(case.threads), self.arrays["a"], weights, self.arrays["y"],
                                          case.rows, case.terms, case.width])
                     for weights in self.arrays.weights(case, "packed")]
            yield Variant(f"hand-{order.replace('_', '-')}", title, "hand" if has_bits else "order",
                          in_turn(self.native, calls, case), is_exact=has_bits, is_close=not has_bits)

    def compiled(self, case):
        for path, library in self.libraries:
            for form, title in cases.FORMS:
                function = address_of(library, cases.function_name(case, form))
                context = self.native.context(case.threads, lends_memory=True)
                calls = [make_call(function, [context, self.arrays["a"], weights, self.arrays["y"]])
                         for weights in self.arrays.weights(case, form)]
                # Judged are packed weights, as the first residc reads them.
                name = path.name if form == "packed" else f"{path.name}-{form}"
                yield Variant(name, f"{path.title}, {title}", "resid" if form == "packed" else form,
                              in_turn(self.native, calls, case), is_exact=True)


def share(time, count):
    """Times calls of which `count` are made one after the other each time: repeats -> nanoseconds of one call."""
    return lambda repeats: time(math.ceil(repeats / count)) / count


def in_turn(native, calls, case):
    """Times calls with one copy of the weights each: nanoseconds of one call."""
    return share(Sequence(native, calls, case.threads).time, len(calls))
