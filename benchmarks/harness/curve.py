# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The limit over sizes: how fast the streams of add + norm are (two read, two written), from the cache to memory. What
# lies beyond the caches is told from it, since the size of a cache that a virtual machine reports may not be its own.

import dataclasses
import statistics

from .measure import warm_up_calls
from .native import Sequence, make_call

SMALLEST = 1 << 18  # bytes of all four arrays
STEPS_PER_DOUBLING = 2
# Memory's speed is reached where no larger size is slower than this part of the present one.
PLATEAU = 0.85


@dataclasses.dataclass(frozen=True)
class Point:
    bytes: int
    plain: float  # GB/s
    streamed: float
    fetched: float  # streamed, and inputs are prefetched


def sizes(largest):
    size, step = float(SMALLEST), 2 ** (1 / STEPS_PER_DOUBLING)
    while size <= largest:
        yield int(size)
        size *= step


def measure(native, arrays, plan):
    """One thread, in the arrays of the cases. Medians, by turns. Nothing where there are no limits here."""
    if not native.instructions:
        return []
    points = []
    for size in sizes(4 * arrays.capacity["x"]):
        each = size // 4 // 256 * 256
        ways = [Sequence(native, [make_call(native.by_hand(f"stream_2r2w_{stores}"),
                                            [0, *(arrays[name] for name in ("x", "f", "t", "y", "s")), each])])
                for stores in ("plain", "streamed", "fetched")]
        samples = [[time_steadily(way, plan) for way in ways] for _ in range(plan.samples)]
        points.append(Point(4 * each, *(4 * each / statistics.median(times) for times in zip(*samples))))
    return points


def time_steadily(way, plan):
    call = way.time(1)
    way.time(max(1, warm_up_calls(call)))
    return way.time(max(1, round(plan.sample_nanoseconds / call)))


def beyond_bytes(points, reported):
    """From how many bytes on a case lies beyond the caches: the smallest size from which on copies with plain stores get
    no slower. (Others go to memory at any size.) Twice the reported size where no limit was measured, or it falls to the
    end."""
    flat = [index for index, point in enumerate(points)
            if min(other.plain for other in points[index:]) >= PLATEAU * point.plain]
    if not flat or flat[0] == len(points) - 1:
        return 2 * reported
    return points[flat[0]].bytes


def markdown(points):
    lines = ["| MB | plain stores | non-temporal stores | with prefetches |", "|---:|---:|---:|---:|"]
    return "\n".join(lines + [f"| {point.bytes / 1e6:.1f} | {point.plain:.1f} | {point.streamed:.1f} | {point.fetched:.1f} |"
                              for point in points])
