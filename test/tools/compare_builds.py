#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the code that two builds of residc make of the programs of the examples, benchmarks and tests, function by
# function: assembly for several CPUs, PTX, exit codes and messages. Entries and their checks only with --entries.
# Exits with 1 where something differs.

import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import zlib

import assembly_text
import compiled_programs

Result = collections.namedtuple("Result", "code message text")


class Build:
    """One residc with the flags that its side adds. With a folder for results, nothing is compiled twice."""

    def __init__(self, residc, flags, cache):
        self.residc, self.flags = residc.resolve(), flags
        self.cache = cache / hash_file(self.residc) if cache else None
        if self.cache:
            self.cache.mkdir(parents=True, exist_ok=True)

    def compile(self, job):
        words = [*job.get_flags(), *self.flags]
        if not self.cache:
            return self.run(job, words)
        place = self.cache / assembly_text.digest("\0".join([job.text, *words]))
        if place.exists():
            return Result(*pickle.loads(zlib.decompress(place.read_bytes())))
        result = self.run(job, words)
        with tempfile.NamedTemporaryFile(dir=self.cache, delete=False) as file:
            file.write(zlib.compress(pickle.dumps(tuple(result)), 1))
        os.replace(file.name, place)
        return result

    def run(self, job, words):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([self.residc, "-", "-o", "-", *words], input=job.text, capture_output=True, text=True, cwd=folder)
        return Result(done.returncode, done.stderr.replace(str(self.residc), "residc"), done.stdout)


def hash_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


def get_stem(name):
    return re.sub(r"\d+", "#", name)


def pair_functions(old, new):
    """(name in old, name in new) of functions that differ; None for one that has no partner. Names do not matter, code does."""
    rest = collections.defaultdict(list)
    for name, lines in new.items():
        rest[tuple(lines)].append(name)
    without = []
    for name, lines in old.items():
        equal = rest[tuple(lines)]
        if equal:
            equal.remove(name) if name in equal else equal.pop()
        else:
            without.append(name)
    added = [name for names in rest.values() for name in names]
    pairs = []
    for name in without:
        alike = [other for other in added if get_stem(other) == get_stem(name)]
        partner = name if name in alike else next(iter(alike), None)
        if partner:
            added.remove(partner)
        pairs.append((name, partner))
    return pairs + [(None, name) for name in added]


def show_difference(old, new, limit):
    lines = [line for line in difflib.unified_diff(old, new, "old", "new", lineterm="", n=1) if not line.startswith(("---", "+++"))]
    more = [f"... {len(lines) - limit} more lines"] if len(lines) > limit else []
    return [f"    {line}" for line in lines[:limit] + more]


def hide_data(functions):
    return {name: [re.sub(r"<data \w+>", "<data>", line) for line in lines] for name, lines in functions.items()}


def compare_functions(job, old, new, flags):
    """What to print of each function that differs."""
    read = assembly_text.read_ptx if job.machine == "ptx" else lambda text: assembly_text.read_assembly(text, flags.entries)
    before, after = read(old.text), read(new.text)
    if job.machine == "launch":
        # The PTX is compared by itself; here it is data, whose bytes depend on the order of kernels.
        before, after = map(hide_data, (before, after))
    found = []
    for name, partner in pair_functions(before, after):
        if not partner or not name:
            found.append([f"  {name or partner}: only in the {'old' if name else 'new'} build"])
            continue
        title = name if name == partner else f"{name}, in the new build {partner}"
        found.append([f"  {title}: differs", *show_difference(before[name], after[partner], flags.lines)])
    return found


def compare(job, old, new, flags):
    """(functions compared, what to print of each difference) of one job."""
    before, after = old.compile(job), new.compile(job)
    found = []
    if before.code != after.code:
        found.append([f"  exit code {before.code} became {after.code}"])
    if before.message != after.message:
        found.append(["  standard error differs", *show_difference(before.message.splitlines(), after.message.splitlines(), flags.lines)])
    if before.text != after.text and before.code == after.code:
        found += compare_functions(job, before, after, flags)
    return assembly_text.count_functions(before.text), found


def parse_flags():
    parser = argparse.ArgumentParser(description="Compare the code that two builds of residc make, function by function.")
    parser.add_argument("old", type=pathlib.Path, help="the residc before")
    parser.add_argument("new", type=pathlib.Path, help="the residc after")
    parser.add_argument("--quick", action="store_true", help="one minute of programs of every kind")
    parser.add_argument("--filter", default="", metavar="PATTERN", help="programs whose name, machine and flags match, such as 'attention.*v4'")
    parser.add_argument("--entries", action="store_true", help="exported functions too, with their checks")
    parser.add_argument("--jobs", type=int, default=2, help="how many programs are compiled at a time (default: 2)")
    parser.add_argument("--lines", type=int, default=12, help="how many lines of each difference are printed (default: 12)")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "resid-compare-builds",
                        help="where results of the old build are kept (default: in the folder for temporary files)")
    parser.add_argument("--old-flags", default="", help="flags of residc for the old build alone")
    parser.add_argument("--new-flags", default="", help="flags of residc for the new build alone")
    return parser.parse_args()


def main():
    flags = parse_flags()
    old = Build(flags.old, flags.old_flags.split(), flags.cache)
    new = Build(flags.new, flags.new_flags.split(), None)
    with tempfile.TemporaryDirectory() as folder:
        jobs = compiled_programs.list_jobs(pathlib.Path(folder), flags.quick)
    jobs = [job for job in jobs if re.search(flags.filter, job.describe())]
    functions, differ = 0, 0
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for job, (count, found) in zip(jobs, pool.map(lambda job: compare(job, old, new, flags), jobs)):
            functions += count
            differ += len(found)
            if found:
                print(job.describe(), *(line for lines in found for line in lines), sep="\n", flush=True)
    programs = len({job.program for job in jobs})
    print(f"{programs} programs, {functions} functions: {f'{differ} differ' if differ else 'identical'}")
    if not jobs:
        print("no program matches the filter", file=sys.stderr)
    return 1 if differ or not jobs else 0


sys.exit(main())
