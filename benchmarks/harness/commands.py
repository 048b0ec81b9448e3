# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the programs that measure have in common: flags, the environment of the peers, compiling in all ways that were asked for,
# results between the markers of a page. Does not own: what is measured.

import argparse
import os
import pathlib
import shlex
import sys

from . import compiled

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"


def make_parser(text):
    """The flags that every one of them has."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--out", type=pathlib.Path, help="where results go (default: BUILD/benchmarks)")
    parser.add_argument("--cc", default="cc", help="the compiler driver that links objects into a library")
    parser.add_argument("--cxx", default="c++", help="the compiler of the wrapper around oneDNN")
    parser.add_argument("--peers", type=pathlib.Path, help="a virtual environment with peers (default: BUILD/peers)")
    parser.add_argument("--also", action="append", default=[], metavar="FLAG",
                        help="measure also what residc makes with this flag, e.g. --also=--schedule=prefetch=off or "
                             "--also=--mcpu=x86-64-v4; several times for several variants")
    parser.add_argument("--against", metavar="RESIDC", help="measure also what this other residc makes, by turns")
    parser.add_argument("--tries", type=int, help="how often everything is measured (default: 3)")
    return parser


def add_modes(parser, page, quick):
    """How much is measured, for programs whose page of docs/measurements/ has a section for each processor. `quick`: what
    --quick leaves out."""
    mode = parser.add_mutually_exclusive_group()
    for name, text in (("quick", quick), ("smoke", "see that everything runs")):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name, default="full", help=text)
    mode.add_argument("--update-docs", metavar="PROCESSOR",
                      help=f"measure nothing; put the last results into {page.name}, as those of PROCESSOR")


def finish(options):
    options.out = options.out or options.build / "benchmarks"
    options.peers = options.peers or options.build / "peers"
    return options


def enter_peers(folder):
    """Peers live in an environment of their own: go on with its interpreter, in this process."""
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")  # large pages for what peers allocate
    python = folder / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [str(python), *sys.argv])


def compile_libraries(options, paths, text_of, folder, flags=()):
    """All of these paths that this residc has, and those that were asked for: (path, library). The first is the one that is
    judged. `flags` are those of all."""
    folder.mkdir(parents=True, exist_ok=True)
    others = [compiled.with_compiler(options.against)] if options.against else []
    libraries = []
    for path in [*paths, *map(compiled.with_flag, options.also), *others]:
        try:
            libraries.append((path, compiled.compile_path(path, text_of(path), options.build / "bin" / "residc",
                                                          options.cc.split(), folder, flags)))
        except compiled.Unavailable as reason:
            print(f"skipped: {path.title}: {reason}", flush=True)
    return libraries


def command_line(target, arguments):
    """The call of make that did this run: what is not the Makefile's own came by BENCH_FLAGS."""
    flags = [word for word in arguments if not word.startswith(("--build=", "--peers=", "--out="))]
    return f"make {target} BENCH_FLAGS={shlex.quote(' '.join(flags))}" if flags else f"make {target}"


def head(target, machine_line, results, peers, *more):
    """What such a section begins with, as a list. `target`: of make; `more`: further items, sentences without their end."""
    titles = "; ".join(peer.title for peer in peers) or "none"
    items = (f"Measured on: {machine_line}", f"Command: `{command_line(target, sys.argv[1:])}`",
             f"Tries: {results.tries}, samples in each: {results.samples_per_try}", *more, f"Peers: {titles}")
    return "\n".join(f"- {item}." for item in items)


def marks(name):
    """The lines between which `make bench-docs`, and other targets, put results into a page."""
    return f"<!-- results: written by {name} -->", "<!-- end of results -->"


def put_between_marks(page, name, text):
    first, last = marks(name)
    before, rest = page.read_text().split(first)
    after = rest.split(last, 1)[1]
    page.write_text(f"{before}{first}\n\n{text}\n{last}{after}")
