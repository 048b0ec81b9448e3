# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bad_files.py FOLDER PROGRAM: files that cannot be read or written, disks that are full, little memory, and kills, for residc, resid-opt,
# resid-run and resid-reduce. Whatever happens, the output is the old one or the new one, whole. Kills come at times spread over a run
# that writes some megabytes, with a fixed seed; after SIGTERM and SIGINT nothing else is left, after SIGKILL at most a file that ends
# in .part. With --full, FOLDER is the root of a small file system, and only writing there is tried.

import ctypes
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

TOOLS = ["residc", "resid-opt", "resid-run", "resid-reduce"]
SERVER = "resid-lsp-server"
TUNE = "resid-tune"
KILLS = 9
failures = checks = 0


def command(tool, program, output):
    # Of the programs here, resid-reduce may take out nothing that is long.
    is_long = ["--test=/bin/sh", "--test-arg=-c", '--test-arg=test $(wc -c < "$0") -lt 100']
    out = {"residc": ["--emit=mlir", "-o", output], "resid-opt": ["-o", output],
           "resid-run": ["--backend=reference", f"--out={output}"], "resid-reduce": [*is_long, "-o", output]}
    return [tool, program, *out[tool]]


def expect(condition, what):
    global failures, checks
    checks += 1
    if not condition:
        print(what)
        failures += 1


def start(arguments, before=None, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE):
    arguments = [str(argument) for argument in arguments]
    return subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, preexec_fn=before)


def run(arguments, before=None, **streams):
    process = start(arguments, before, **streams)
    _, messages = process.communicate(timeout=120)
    return process.returncode, (messages or b"").decode(errors="replace")


def expect_file_error(tool, program, output, word, before=None):
    code, messages = run(command(tool, program, output), before)
    expect(code == 3 and f"{tool}: error: cannot {word} '" in messages, f"{tool} {program} {output}: exit code {code}, {messages}")


def limit_file_size():
    """A write beyond 4 KiB fails, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def drop_privileges():
    """Root may read and write everything, by CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH; others have no need of this."""
    set_bounding = 24
    for capability in (1, 2):
        if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(set_bounding, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "cannot drop a capability")


def check_words(tool, program):
    """What a tool says to a standard output or error that is full: a run that failed for another reason keeps its exit code."""
    reports = {"residc": [program, "--report", "--emit=obj", "-o", "/dev/null"], "resid-opt": [program, "--mlir-timing", "-o", "/dev/null"]}
    output = {SERVER: ["--help"], "resid-run": [program], TUNE: [program, "--keys=path"]}.get(tool) or command(tool, program, "-")[1:]
    for arguments in ["--help"], ["--version"], output:
        with open("/dev/full", "w") as full:
            code, messages = run([tool, *arguments], stdout=full)
        expect(code == 3 and f"{tool}: error: cannot write '<stdout>': " in messages,
               f"{tool} {arguments} > /dev/full: exit code {code}, {messages}")
    for arguments, wanted in (["--nonsense"], 2), (reports.get(tool), 3):
        if arguments:
            with open("/dev/full", "w") as full:
                code, _ = run([tool, *arguments], stderr=full)
            expect(code == wanted, f"{tool} {arguments} 2> /dev/full: expected exit code {wanted}, but got {code}")


def check_full(tool, folder, program):
    """A file system of 64 KiB, in which the old output has place and the new one has not."""
    old = folder / "old"
    old.write_text("old")
    expect_file_error(tool, program, old, "write")
    expect_file_error(tool, program, folder / "new", "write")
    expect(old.read_text() == "old" and list(folder.iterdir()) == [old], f"{tool}: expected the old output alone on a full disk")
    old.unlink()


def fill_disk(folder, program):
    """Where this user may mount file systems: runs itself in one."""
    folder.mkdir(exist_ok=True)
    mount = ["unshare", "--mount", "--map-root-user"] if os.geteuid() else ["unshare", "--mount"]
    mount += ["sh", "-c", 'mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"', "sh", str(folder)]
    if subprocess.run([*mount, "true"], capture_output=True).returncode:
        return print("a full file system is not tested: this user may mount none")
    expect(not subprocess.run([*mount, sys.executable, __file__, "--full", str(folder), str(program)]).returncode, "a full disk")


def check_files(tool, folder, program):
    old = folder / "old"
    old.write_text("old")
    expect_file_error(tool, folder / "missing.mlir", old, "read")
    expect_file_error(tool, folder, old, "read")
    expect_file_error(tool, program, folder / "no" / "such" / "folder", "write")
    expect_file_error(tool, program, folder, "write")
    expect_file_error(tool, program, "/dev/full", "write")
    expect_file_error(tool, program, old, "write", limit_file_size)
    locked = folder / "locked"
    locked.mkdir(mode=0o500, exist_ok=True)
    expect_file_error(tool, program, locked / "out", "write", drop_privileges)
    unreadable = folder / "unreadable.mlir"
    unreadable.touch(mode=0)
    expect_file_error(tool, unreadable, old, "read", drop_privileges)
    expect(old.read_text() == "old", f"{tool}: expected the old output after errors")
    expect(not list(folder.glob("*.part")), f"{tool}: expected no temporary files after errors")


def check_memory(tool, folder, program):
    """From too little to load the libraries to enough: exit code 5 and words, or the end of the loader, or success; for
    the language server, the code of an editor that is not there."""
    old, seen, success = folder / "old", set(), 1 if tool == SERVER else 0
    for mebibytes in list(range(300, 420, 6)) + list(range(420, 900, 60)) + [4096]:
        old.write_text("old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
        code, messages = run([tool] if tool == SERVER else command(tool, program, old), limit)
        loading = code == 127 and "error while loading shared libraries" in messages
        refused = code == 5 and messages.startswith(f"{tool}: error: out of memory")
        expect(code == success or loading or refused, f"{tool} in {mebibytes} MiB: exit code {code}, {messages[:300]}")
        expect(code == 0 or old.read_text() == "old", f"{tool} in {mebibytes} MiB: expected the old output")
        seen.add(code)
    expect({success, 5} <= seen, f"{tool}: expected runs out of memory and runs with enough, but got the exit codes {seen}")
    expect(not list(folder.glob("*.part")), f"{tool}: expected no temporary files after running out of memory")


def take_signals():
    """Interrupts end a process that a shell began in the background too."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)


def ignore_signals():
    """As nohup and shells do."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        signal.signal(number, signal.SIG_IGN)


def check_ignored(tool, program, output, new, seconds):
    """Signals that the caller ignores, ten times during a run, change nothing."""
    output.write_text("old")
    process = start(command(tool, program, output), ignore_signals)
    for _ in range(10):
        time.sleep(seconds / 10)
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
            process.send_signal(number)
    _, messages = process.communicate()
    expect(process.returncode == 0, f"{tool}: exit code {process.returncode} after signals that it ignores, {messages.decode()}")
    expect(output.read_bytes() == new, f"{tool}: expected its output in spite of signals that it ignores")


def check_kills(tool, folder, program, numbers):
    output = folder / "output"
    began = time.monotonic()
    code, messages = run(command(tool, program, output))
    seconds = time.monotonic() - began
    expect(code == 0, f"{tool}: {messages}")
    new, ends = output.read_bytes(), set()
    check_ignored(tool, program, output, new, seconds)
    for kill in range(KILLS):
        how = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][kill % 3]
        output.write_text("old")
        process = start(command(tool, program, output), take_signals)
        time.sleep(seconds * (kill + numbers.random()) / KILLS)  # the first ones come in time, however slow the measured run was
        process.send_signal(how)
        _, messages = process.communicate()
        found = output.read_bytes()
        expect(found in (b"old", new), f"{tool}: half a file of {len(found)} bytes after {how.name}")
        expect(process.returncode in (0, -how), f"{tool}: exit code {process.returncode} after {how.name}, {messages.decode()}")
        left = list(folder.glob("*.part"))
        expect(how == signal.SIGKILL or not left, f"{tool}: {left} left after {how.name}")
        for path in left:
            path.unlink()
        ends.add(process.returncode)
    expect(min(ends) < 0, f"{tool}: expected some kills to come in time")


def write_large(path):
    constant = ", ".join(f"{i}.5" for i in range(200000))
    path.write_text(f"func.func @f() -> tensor<200000xf32> {{\n  %0 = arith.constant dense<[{constant}]> : tensor<200000xf32>\n"
                    "  return %0 : tensor<200000xf32>\n}\n")


def main():
    is_full = sys.argv[1] == "--full"
    folder, program = map(pathlib.Path, sys.argv[-2:])
    if is_full:
        for tool in TOOLS:
            check_full(tool, folder, program)
        return 1 if failures else 0
    folder.mkdir(parents=True, exist_ok=True)
    large = folder / "large.mlir"
    write_large(large)
    fill_disk(folder / "full", large)
    for tool in [*TOOLS, SERVER]:
        check_words(tool, program)
        check_memory(tool, folder, program)
    check_words(TUNE, program)
    for tool in TOOLS:
        check_files(tool, folder, large)
        check_kills(tool, folder, large, random.Random(1))
    print(f"{checks} checks, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
