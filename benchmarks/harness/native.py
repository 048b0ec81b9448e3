# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The native side through ctypes: timed calls, arrays in staggered large pages, contexts with threads.

import ctypes

from . import cases

MOST_ARGUMENTS = 48
LARGE_PAGE = 2 << 20
# Between the starts of two arrays beside whole large pages: arrays at equal offsets share the sets of every cache.
STAGGER = 169 * 64


class Call(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("count", ctypes.c_int64),
                ("arguments", ctypes.c_int64 * MOST_ARGUMENTS)]


class Native:
    """libresid-benchmarks.so"""

    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path))
        for name, result, arguments in (
                ("bench_time", ctypes.c_double, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int32]),
                ("bench_clock", ctypes.c_double, []),
                ("bench_allocate", ctypes.c_void_p, [ctypes.c_int64]),
                ("bench_fill", None, [ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_double]),
                ("bench_context", ctypes.c_void_p, [ctypes.c_int32] * 3),
                ("bench_statistics", None,
                 [ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_double] + [ctypes.c_void_p] * 4),
                ("bench_scale", None, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_double]),
                ("bench_sum_error", ctypes.c_double, [ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_void_p]),
                ("bench_compare", ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]),
                ("bench_distance", ctypes.c_double, [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2),
                ("bench_transpose", None, [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 3),
                ("bench_pack", ctypes.c_int64, [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 3),
                ("bench_instructions", ctypes.c_char_p, [])):
            function = getattr(self.functions, name)
            function.restype, function.argtypes = result, arguments
        self.contexts = {}
        # What limits and hand-written kernels are made of here, such as "avx2"; "" where this processor runs none.
        self.instructions = self.functions.bench_instructions().decode()

    def by_hand(self, name):
        """The address of a limit or of a hand-written kernel."""
        return address_of(self.functions, f"{self.instructions}_{name}")

    def context(self, threads, hints=0, lends_memory=False):
        """The address of a resid_ctx with so many threads; 0 for one thread without hints and memory."""
        key = threads, hints, lends_memory
        if key not in self.contexts:
            self.contexts[key] = self.functions.bench_context(*key) or 0
        return self.contexts[key]


def address_of(library, name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def make_call(function, arguments):
    assert len(arguments) <= MOST_ARGUMENTS
    return Call(function, len(arguments), (ctypes.c_int64 * MOST_ARGUMENTS)(*arguments))


class Sequence:
    """Calls that are made one after the other. Work of one thread is timed by that thread's processor time."""

    def __init__(self, native, calls, threads=1):
        self.native, self.length, self.own_time = native, len(calls), threads == 1
        self.calls = (Call * len(calls))(*calls)

    def time(self, repeats):
        """Nanoseconds of one repetition."""
        result = self.native.functions.bench_time(ctypes.addressof(self.calls), self.length, repeats,
                                                self.own_time)
        if result < 0:
            raise RuntimeError(f"a kernel answered status {int(result)}")
        return result


class Memory:
    """Named arrays in one block of memory: the same addresses for all variants of a case."""

    def __init__(self, native, capacity):
        self.native, self.capacity = native, capacity
        sizes = [(size + 2 * LARGE_PAGE - 1) // LARGE_PAGE * LARGE_PAGE for size in self.capacity.values()]
        base = native.functions.bench_allocate(sum(sizes))
        if not base:
            raise MemoryError(f"expected {sum(sizes)} bytes for the arrays, but the system has none")
        self.addresses = {}
        for index, (name, size) in enumerate(zip(self.capacity, sizes)):
            self.addresses[name] = base + index * STAGGER
            base += size

    def __getitem__(self, name):
        return self.addresses[name]

    def spoil(self, case):
        """Overwrites results with what no kernel computes."""
        for name in case.results:
            ctypes.memset(self[name], 0xEE, case.bytes_of(name))

    def keep_expected(self, case):
        for name in case.results:
            ctypes.memmove(self[f"expected_{name}"], self[name], case.bytes_of(name))

    def first_difference(self, case, name):
        """1 + the place of the first element that is not as expected, or 0."""
        return self.native.functions.bench_compare(self[name], self[f"expected_{name}"], *case.extent(name))

    def distance(self, case, name):
        """The largest distance from what is expected; infinite where one of the two is not a number."""
        return self.native.functions.bench_distance(self[name], self[f"expected_{name}"], *case.extent(name))


class Arrays(Memory):
    """The arrays of all cases of row kernels."""
    ROWS = ("x", "f", "y", "s", "t", "expected_y", "expected_s")
    COLUMNS = tuple(f"{kind}{name}" for name in cases.COLUMN_ARRAYS for kind in ("", "expected_"))

    def __init__(self, native, shapes):
        sizes = ((self.ROWS, max(rows * width for rows, width in shapes)), (self.COLUMNS, max(width for _, width in shapes)),
                 (cases.STATISTICS, max(rows for rows, _ in shapes)))
        super().__init__(native, {name: 4 * size for names, size in sizes for name in names})

    def fill(self, case):
        for seed, name in enumerate(("x", "f", "gamma", "beta", "t")):
            self.native.functions.bench_fill(self[name], *case.extent(name), seed + 1, 0.25)
        self.native.functions.bench_statistics(self["x"], cases.SIZES[case.type], case.rows, case.width, cases.EPSILON,
                                               *(self[name] for name in cases.STATISTICS))
