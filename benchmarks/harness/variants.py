# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways to do a case's work, as a table: each is a name and something that times it. What is missing on this machine
# says why.

import dataclasses
import typing

from . import cases, compiled
from .compiled import Unavailable
from .native import Sequence, address_of, make_call

HAND_STORES = (("plain", "hand-written, plain stores"), ("streamed", "hand-written, non-temporal stores"),
               ("streamed_ahead", "hand-written, non-temporal stores and prefetch"))
# Other orders of work of add + norms, with non-temporal stores, measured where they are asked for.
HAND_ORDERS = (("pipelined", "hand-written, pipelined rows"),
               ("pipelined_ahead", "hand-written, pipelined rows and prefetch"),
               ("paired", "hand-written, rows in pairs"), ("paired_ahead", "hand-written, rows in pairs and prefetch"))
WIDE_SCRATCH = (("wide_scratch", "hand-written, scratch row in f32 and prefetch"),)
# Of column sums: the order of the definition, and others that it was chosen from, which give other bits.
SUM_ORDERS = tuple((name, f"hand-written, {title}") for name, title in (
    ("running", "one sum in f32"), ("per_lane", "64 sums in f32"), *((f"groups_{n}", f"groups of {n} rows in f32")
                                                                   for n in (32, 64, 128, 256)), ("wide", "terms in f64")))
# What a caller may say of the results (runtime/resid.h).
HINTS = ((1, "read-soon", "resid, hint: read soon"), (2, "stream", "resid, hint: past the cache"))
# The arrays of the backward by hand, some of which a kernel does not need.
BACKWARD_BY_HAND = ("x", "f", "t", "gamma", *cases.LAYER_STATISTICS, "y", "s", "dgamma", "dbeta")
LIMIT_STORES = (("plain", "limit, plain stores"), ("streamed", "limit, non-temporal stores"))
STREAM_STEP = 256  # bytes that the limits work on at a time


@dataclasses.dataclass
class Variant:
    name: str
    title: str
    group: str  # limit, hand, order, resid, unfused, hint, peer
    time: typing.Callable[[int], float]  # repeats -> nanoseconds of one
    is_exact: bool = False  # has the bits of docs/numerics.md
    is_close: bool = False  # computes the same up to rounding, into the same arrays
    spins: bool = False  # its threads go on looking for work: what comes next waits until they sleep
    fetch: typing.Callable[[], None] = None  # puts its results into the arrays, where its calls leave them elsewhere


class Providers:
    """All ways of one process; asks each for its variants of a case."""

    def __init__(self, native, arrays, libraries, peers, has_orders=False):
        self.native, self.arrays, self.libraries, self.peers = native, arrays, libraries, peers
        self.has_orders = has_orders
        self.reasons = []

    def variants(self, case):
        found = []
        if self.native.instructions:
            found += [*self.limits(case), *self.hand_written(case)]
        else:
            self.skip("limits and hand-written kernels", "this processor lacks AVX2 with FMA and BMI2")
        found += self.compiled(case)
        if case.is_read:
            return [*found, *self.hinted(case)]
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
        reads, writes = case.kernel.streams
        size = case.bytes_of("x") // STREAM_STEP * STREAM_STEP
        a = self.arrays
        if not writes:
            call = make_call(self.native.by_hand("read"), [self.native.context(case.threads), a["x"], size])
            yield Variant("limit-read", "limit, reading", "limit", Sequence(self.native, [call], case.threads).time)
            return
        for stores, title in LIMIT_STORES:
            function = self.native.by_hand(f"stream_{reads}r{writes}w_{stores}")
            arguments = [self.native.context(case.threads), *(a[name] for name in ("x", "f", "t", "y", "s")), size]
            calls = [make_call(function, arguments), *self.readers(case)]
            yield Variant(f"limit-{stores}", title, "limit", Sequence(self.native, calls, case.threads).time)

    def hand_written(self, case):
        names = BACKWARD_BY_HAND if case.kernel.is_backward else ("x", "f", "gamma", "beta", *case.kernel.results, "s")[:6]
        if case.kernel.name == "rms_norm_backward":
            names = [{"rstd": "rms"}.get(name, name) for name in names]
        arguments = [self.native.context(case.threads), *(self.arrays[name] for name in names), case.rows, case.width,
                     *(cases.SCALARS[name] for name in ("seed", "step"))]
        for stores, title in self.hand_ways(case):
            function = self.native.by_hand(f"hand_{case.kernel.name}_{case.type}_{stores}")
            calls = [make_call(function, arguments), *self.readers(case)]
            # Of another order are other sums: no bar asks for their speed.
            has_bits = (stores, title) not in SUM_ORDERS
            yield Variant(f"hand-{stores.replace('_', '-')}", title, "hand" if has_bits else "order",
                          Sequence(self.native, calls, case.threads).time, is_exact=has_bits)

    def hand_ways(self, case):
        """What stands at the end of a function's name, with a title."""
        if case.kernel.name == "column_sums":
            if case.width % 64 != 0:
                self.skip("column sums by hand", "they are for widths that are multiples of 64")
                return ()
            return (("cascade", "hand-written"),) + (SUM_ORDERS if self.has_orders else ())
        return HAND_STORES + self.hand_orders(case)

    def hand_orders(self, case):
        if not self.has_orders or case.kernel.name not in ("add_layer_norm", "add_rms_norm") or case.width % 64 != 0:
            return ()
        return HAND_ORDERS + (WIDE_SCRATCH if case.type == "bf16" else ())

    def readers(self, case):
        """The calls that read the results, where somebody does."""
        if not case.is_read:
            return []
        size = case.bytes_of("y") // STREAM_STEP * STREAM_STEP
        context, function = self.native.context(case.threads), self.native.by_hand("read")
        return [make_call(function, [context, self.arrays[name], size]) for name in case.kernel.results]

    def hinted(self, case):
        """The kernel where the caller says what becomes of the results."""
        path, library = self.libraries[0]
        whole = [(case.kernel.name, case.kernel.arguments, case.kernel.results)]
        for hint, name, title in HINTS:
            time = self.sequence(case, path, library, whole, hint)
            yield Variant(f"resid-hint-{name}", title, "hint", time, is_exact=True)

    def compiled(self, case):
        for path, library in self.libraries:
            whole = [(case.kernel.name, case.kernel.arguments, case.kernel.results)]
            yield Variant(path.name, path.title, "resid", self.sequence(case, path, library, whole), is_exact=True)
        path, library = self.libraries[0]
        if case.kernel.parts:
            has_bits = not case.kernel.is_rounded_between
            yield Variant("resid-unfused", "resid, op by op", "unfused",
                          self.sequence(case, path, library, case.kernel.parts), is_exact=has_bits, is_close=not has_bits)

    def sequence(self, case, path, library, parts, hints=0):
        width = case.width if path.fixed_width else None
        calls = []
        for name, arguments, results in parts:
            values = compiled.arguments_of(self.arrays, case, arguments, results, path.fixed_width,
                                           self.native.context(case.threads, hints, case.kernel.needs_memory))
            calls.append(make_call(address_of(library, cases.function_name(name, case.type, width)), values))
        return Sequence(self.native, calls + self.readers(case), case.threads).time


def print_sum_errors(found, case, providers):
    """The largest error of column sums by hand, in units of a column's sum of magnitudes, where orders are compared."""
    if case.kernel.name != "column_sums" or not providers.has_orders:
        return
    size, arrays = cases.SIZES[case.type], providers.arrays
    for variant in found:
        if variant.group in ("hand", "order"):
            variant.time(1)
            error = providers.native.functions.bench_sum_error(arrays["x"], size, case.rows, case.width, arrays["sums"])
            print(f"column sums, {case.type} {case.shape}: {variant.title}: error {error:.1e}", flush=True)
