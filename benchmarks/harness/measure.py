# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Samples of all variants of a case, by turns, so that a change of clock or of neighbours meets all of them.

import dataclasses
import itertools
import resource
import statistics
import time

from . import cases

WARM_UP_NANOSECONDS = 10e6


@dataclasses.dataclass(frozen=True)
class Plan:
    """How much is measured: tries of so many samples of about so many nanoseconds."""
    tries: int = 3
    samples: int = 15
    sample_nanoseconds: float = 1.5e6
    runs_of_compiler: int = 11


@dataclasses.dataclass
class Record:
    """The samples of one variant of one case, one list per try, in nanoseconds of one call."""
    case: cases.Case
    name: str
    title: str
    group: str
    tries: list = dataclasses.field(default_factory=list)

    @property
    def samples(self):
        return [sample for samples in self.tries for sample in samples]

    @property
    def median(self):
        return statistics.median(self.samples)

    def median_of(self, attempt):
        return statistics.median(self.tries[attempt])

    def quartiles(self):
        if len(self.samples) < 2:
            return self.samples[0], self.samples[0]
        first, _, third = statistics.quantiles(self.samples, n=4, method="inclusive")
        return first, third

    def gigabytes(self, nanoseconds=None):
        """Compulsory bytes per nanosecond: each array read once or written once."""
        return self.case.bytes / (nanoseconds or self.median)


def check(variants, case, arrays):
    """Ends the run where two variants that promise the same bits differ, or a peer computes something else."""
    first = None
    for variant in sorted(variants, key=lambda variant: not variant.is_exact):
        if not variant.is_exact and not variant.is_close:
            continue
        arrays.spoil(case)
        variant.time(1)
        if variant.fetch:
            variant.fetch()
        if first is None:
            first = variant
            arrays.keep_expected(case)
        for name in case.results:
            check_result(variant, first, name, case, arrays)


def check_result(variant, first, name, case, arrays):
    what = f"bench: {case.title}, {case.type} {case.shape}, threads: {case.threads}"
    if not variant.is_exact:
        distance = arrays.distance(case, name)
        if not distance <= case.tolerance:
            raise SystemExit(f"{what}: expected '{variant.title}' within {case.tolerance:g} of '{first.title}', but "
                             f"{name} is off by {distance}")
        return
    place = arrays.first_difference(case, name)
    if place:
        row, column = divmod(place - 1, case.width)
        raise SystemExit(f"{what}: expected the bits of '{first.title}' from '{variant.title}', but {name} differs "
                         f"first at [{row}, {column}]")


def wait_until_idle(most=0.5):
    """Waits until no thread of this process spins, or for so many seconds. How long idle threads spin differs by library
    and processor, from 1 ms to 200 ms; whoever came next would share a processor with them. The time of running threads is
    counted in ticks of some milliseconds, so several must pass."""
    end = time.perf_counter() + most
    while time.perf_counter() < end:
        start, used = time.perf_counter(), time.process_time()
        time.sleep(0.02)
        if time.process_time() - used < 0.1 * (time.perf_counter() - start):
            return


def sample(variant, repeats, attempts=3):
    """One sample. Taken again, a few times, where the system gave the processor to somebody else meanwhile."""
    for attempt in range(attempts):
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
        result = variant.time(repeats)
        if resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw == before:
            break
    return result


def warm_up_calls(nanoseconds):
    """How often a variant is called before each sample of it, by the time of one call. The variant before it may have
    written past the cache, or have driven this one's arrays out. On an Ice Lake, add + RMS norm of 1024x768 and its
    reader took 1300 us in the first call after such a variant, 1030 in the third, and 800 from the eighth on. Calls that
    are longer than the budget work on arrays that no cache holds."""
    return min(8, int(WARM_UP_NANOSECONDS / nanoseconds))


def measure(variants, case, plan, records):
    """One try: appends to the records of this case, which it makes the first time."""
    repeats, warm_up = {}, {}
    for variant in variants:
        variant.time(1)
        call = sample(variant, 1)
        repeats[variant.name] = max(1, round(plan.sample_nanoseconds / call))
        warm_up[variant.name] = warm_up_calls(call)
    samples = {variant.name: [] for variant in variants}
    for turn in range(plan.samples):
        start = turn % len(variants)
        for variant in variants[start:] + variants[:start]:
            if warm_up[variant.name]:
                variant.time(warm_up[variant.name])
            samples[variant.name].append(sample(variant, repeats[variant.name]))
            if variant.spins:
                wait_until_idle()
    for variant in variants:
        record = records.setdefault((case, variant.name), Record(case, variant.name, variant.title, variant.group))
        record.tries.append(samples[variant.name])


def measure_cases(providers, plan, chosen, on_first=lambda found, case: None):
    """The records of all cases. Tries are the outer loop, so that a bad minute of the machine falls into one try of a case
    only. `on_first` is told the variants of a case before they are measured, after their results were compared."""
    records, filled = {}, None
    for attempt, case in itertools.product(range(plan.tries), chosen):
        if filled != case.contents:
            providers.arrays.fill(case)
            filled = case.contents
        found = providers.variants(case)
        if attempt == 0:
            check(found, case, providers.arrays)
            on_first(found, case)
        measure(found, case, plan, records)
        print(f"try {attempt + 1} of {plan.tries}: {case.title}, {case.type} {case.shape}, threads: {case.threads}"
              f"{', with a reader' if case.is_read else ''}", flush=True)
    return records
