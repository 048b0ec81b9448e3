# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads `llvm-objdump -dr` of kernels that were compiled for ThreadSanitizer, and says in how many row functions it sees no
# write: neither one of their own nor, where they leave that to it, one of what writes lines past the cache.

import re
import sys

WRITER = "resid.write_lines"


def main():
    calls, name = {}, None
    for line in sys.stdin:
        if start := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            name = start[1]
            calls[name] = set()
        elif call := re.search(rf"(__tsan_(?:unaligned_)?write\d+|{re.escape(WRITER)})\b", line):
            calls[name].add(call[1])

    # Jumps inside of the writer name it, too.
    def is_watched(name):
        return bool(calls[name] - {WRITER}) or name != WRITER and WRITER in calls[name] and is_watched(WRITER)

    rows = [name for name in calls if re.search(r"__(rows|stream)(_\d+)?$", name)]
    unwatched = [name for name in rows if not is_watched(name)]
    print(f"{len(rows)} row functions, {len(unwatched)} without a write that is watched {' '.join(unwatched)}".strip())


main()
