# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# interrupt.py PATTERN COMMAND ...: runs the command with a terminal for its standard error, interrupts it when that shows the pattern, and
# prints what it showed after that, and its exit code. The command takes interrupts even where this process ignores them.
import os
import pty
import re
import signal
import subprocess
import sys

shown, terminal = pty.openpty()
process = subprocess.Popen(sys.argv[2:], stderr=terminal, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
os.close(terminal)


def read():
    try:
        return os.read(shown, 4096).decode(errors="replace")
    except OSError:  # nobody has the terminal any more
        return ""


text = ""
while not re.search(sys.argv[1], text):
    more = read()
    if not more:
        sys.exit(f"the pattern never came: {text}")
    text += more
process.send_signal(signal.SIGINT)
while more := read():
    print(more.replace("\r", "\n"), end="")
print("exit code", process.wait())
