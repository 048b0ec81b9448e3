# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The editor's side of the language server protocol (Content-Length, then JSON), for the tests of the server.

import json
import subprocess
import sys
import threading


class Server:
    def __init__(self, command, notified=lambda message: None):
        self.notified = notified
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # It logs there, and would wait where nobody reads.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        # A server that says nothing shall not hold the tests.
        timer = threading.Timer(300, self.process.kill)
        timer.daemon = True
        timer.start()
        self.last_request = 0

    def send(self, method, params, **extra):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **extra}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = None
        while (line := self.process.stdout.readline().strip()) or length is None:
            if not line:
                sys.exit(f"the server ended in the middle of the session, with exit code {self.process.wait()}")
            name, value = line.decode().split(":")
            length = int(value) if name == "Content-Length" else length
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.last_request += 1
        self.send(method, params, id=self.last_request)
        while (message := self.receive()).get("id") != self.last_request:
            self.notified(message)
        if "error" in message:
            sys.exit(f"{method}: {message['error']}")
        return message["result"]

    def end(self):
        """Says goodbye; the exit code."""
        self.ask("shutdown", None)
        self.send("exit", None)
        return self.process.wait()
