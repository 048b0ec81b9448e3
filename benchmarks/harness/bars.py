# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is asked of the numbers: the speed of compiled code relative to the best of a group, within one try. The best try
# counts.

import dataclasses
import typing

OWN = "resid"  # the variant that is judged: what users get
NARROW, WIDE = (768, 769, 1024), (4096, 8192)


@dataclasses.dataclass(frozen=True)
class Bar:
    title: str
    required: float
    group: str  # what it is compared with
    applies: typing.Callable  # (case, whether it is beyond the cache) -> bool


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Of the cases of a bar with so many threads: the worst, and how many reach the bar."""
    worst: float
    place: str
    passed: int
    count: int


def named(*kernels, type=None, widths=None):
    """Cases beyond the cache of these kernels."""
    return lambda case, beyond: (beyond and case.kernel.name in kernels and type in (None, case.type)
                                 and (widths is None or case.width in widths))


def rowwise(type, *places):
    """Cases of this type whose forward kernels write rows, at these places: beyond the cache (True), in it (False)."""
    return lambda case, beyond: (case.type == type and beyond in places and case.kernel.name != "column_sums"
                                 and not case.kernel.is_backward)


def backward(case, beyond):
    return case.kernel.is_backward


BARS = (
    Bar("f32 against hand-written", 0.95, "hand", rowwise("f32", True, False)),
    Bar("bf16 against hand-written, beyond the cache", 0.95, "hand", rowwise("bf16", True)),
    Bar("bf16 against hand-written, in the cache", 0.90, "hand", rowwise("bf16", False)),
    Bar("column sums against hand-written", 0.90, "hand", lambda case, beyond: case.kernel.name == "column_sums"),
    Bar("f32 column sums, 16384x1024, of the limit", 0.85, "limit", lambda case, beyond:
        (case.kernel.name, case.type, case.shape) == ("column_sums", "f32", "16384x1024")),
    Bar("f32 add + layer norm, width to 1024, of the limit", 0.82, "limit",
        named("add_layer_norm", type="f32", widths=NARROW)),
    Bar("f32 add + RMS norm, width to 1024, of the limit", 0.90, "limit",
        named("add_rms_norm", type="f32", widths=NARROW)),
    Bar("bf16 add + layer norm, width to 1024, of the limit", 0.75, "limit",
        named("add_layer_norm", type="bf16", widths=NARROW)),
    Bar("bf16 add + RMS norm, width to 1024, of the limit", 0.88, "limit",
        named("add_rms_norm", type="bf16", widths=NARROW)),
    Bar("f32 add + layer norm, width 4096 and 8192, of the limit", 0.68, "limit",
        named("add_layer_norm", type="f32", widths=WIDE)),
    Bar("bf16 add + layer norm, width 4096 and 8192, of the limit", 0.54, "limit",
        named("add_layer_norm", type="bf16", widths=WIDE)),
    Bar("f32 dropout + add + layer norm, width to 1024, of the limit", 0.78, "limit",
        named("dropout_add_layer_norm", type="f32", widths=NARROW)),
    Bar("add + layer norm against op by op", 1.5, "unfused", named("add_layer_norm")),
    Bar("dropout + add + layer norm against op by op", 1.8, "unfused", named("dropout_add_layer_norm")),
    Bar("backward against hand-written", 0.95, "hand", backward),
    Bar("f32 backward of norms, width to 1024, of the limit", 0.70, "limit",
        named("layer_norm_backward", "rms_norm_backward", type="f32", widths=NARROW)),
    Bar("dropout + add + layer norm, backward, against op by op", 1.5, "unfused",
        named("dropout_add_layer_norm_backward")),
    Bar("against the best peer, beyond the cache", 1.0, "peer", lambda case, beyond: beyond),
    Bar("against the best peer, in the cache", 0.95, "peer", lambda case, beyond: not beyond),
)
# With a reader of the results: what a kernel chooses against the better of what a caller could have told it.
READ_BAR = Bar("with a reader, the choice of stores against the better one", 0.97, "hint", lambda case, beyond: True)


def best_ratio(results, case, group):
    """The largest ratio of the tries, or None where one of the two was not measured."""
    own = results.records.get((case, OWN))
    if own is None or results.best(case, group) is None:
        return None
    return max(results.best(case, group, attempt).median_of(attempt) / own.median_of(attempt)
               for attempt in range(len(own.tries)))


def judge(bar, results, threads, beyond_bytes):
    """The outcome of a bar, or None where no case was measured."""
    ratios = []
    for case in results.cases:
        is_meant = case.threads == threads and case.is_read == (bar is READ_BAR)
        if is_meant and bar.applies(case, case.bytes >= beyond_bytes):
            ratio = best_ratio(results, case, bar.group)
            if ratio is not None:
                ratios.append((ratio, f"{case.title}, {case.type} {case.shape}"))
    if not ratios:
        return None
    worst, place = min(ratios)
    return Outcome(worst, place, sum(ratio >= bar.required for ratio, _ in ratios), len(ratios))


def describe(outcome):
    if outcome is None:
        return ["", ""]
    return [f"{outcome.passed} of {outcome.count}", f"{outcome.worst:.2f}, {outcome.place}"]


def markdown(results, beyond_bytes, bars=(*BARS, READ_BAR)):
    threads = list(dict.fromkeys(case.threads for case in results.cases))
    names = {count: "one thread" if count == 1 else f"{count} threads" for count in threads}
    heads = [f"{names[count]}: {what}" for count in threads for what in ("reached by", "worst, where")]
    lines = ["| " + " | ".join(["what", "bar"] + heads) + " |", "|---|---:|" + "---|" * len(heads)]
    for bar in bars:
        cells = []
        for count in threads:
            outcome = judge(bar, results, count, beyond_bytes)
            cells += describe(outcome)
        lines.append(f"| {bar.title} | {bar.required:.2f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
