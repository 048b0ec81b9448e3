# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Processes that gpu-check asks for checks and times, one request after the other. One that fails or does not answer in
# time costs its request alone: the next one goes to a new process.

import collections
import csv
import os
import select
import subprocess
import threading
import time


class Server:
    """A process that reads requests line by line, and answers each with lines of CSV and the line `end`."""

    def __init__(self, command):
        self.command = [str(word) for word in command]
        self.process = None

    def ask(self, request, seconds):
        """The lines of the answer, those before a failure too; and what went wrong, or None."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        end, text = time.monotonic() + seconds, ""
        try:
            self.process.stdin.write(f"{request}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # It has ended, which reading shows.
        problem = None
        while problem is None and not f"\n{text}".endswith("\nend\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 1 << 16).decode(errors="replace") if ready else ""
            text += piece
            if not ready:
                problem = f"it ran past its limit of {seconds:.0f} s"
            elif not piece:
                problem = f"its process ended with exit code {self.process.wait()}"
        if problem is not None:
            self.stop()
        # The last line may be half a line.
        lines = [line for line in csv.reader(text[: text.rfind("\n") + 1].splitlines()) if line]
        said = [line[1] for line in lines if line[0] == "fatal"]
        return [line for line in lines if line[0] not in ("end", "fatal")], problem and ": ".join([problem, *said])

    def stop(self):
        """Ends the process; one whose kernel does not end may need a while for it, which nobody waits for."""
        if self.process is not None:
            self.process.kill()
            self.process = None


# `cases` are what the answer says `done` of; `label` is what is said of all requests of this kind.
Request = collections.namedtuple("Request", "label text cases")


def serve(command, requests, jobs, limit, deadline, take):
    """Puts requests to as many processes as there are jobs. `take` is given each request with its answer as soon as it is
    there, but for those that the deadline cuts off. When it gives False, the requests that are left are not put."""
    waiting, lock = collections.deque(requests), threading.Lock()

    def work():
        server = Server(command)
        while time.monotonic() < deadline:
            with lock:
                if not waiting:
                    break
                request = waiting.popleft()
            lines, problem = server.ask(request.text, min(limit, deadline - time.monotonic()))
            if problem and time.monotonic() >= deadline:
                break
            with lock:
                if not take(request, lines, problem):
                    waiting.clear()
        server.stop()

    threads = [threading.Thread(target=work) for _ in range(min(jobs, len(requests)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
