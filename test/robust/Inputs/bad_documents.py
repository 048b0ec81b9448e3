# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bad_documents.py SERVER: gives the language server every bad text of bad_text.py, one after the other in one session. Each
# gets an error, with a place in the text; the server lives on.

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "tools", "Inputs"))

from bad_text import BAD
from lsp_client import Server

# What an editor may show: dialects that the server does not know, and values that are left out.
SHOWN = {"unknown-dialect", "elided-resource"}


def errors_of(server, text):
    """The errors of a new document, which is closed after it: what came before the next answer."""
    found = []
    server.notified = lambda message: found.extend(message.get("params", {}).get("diagnostics", []))
    document = {"uri": "file:///program.mlir"}
    server.send("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}})
    server.ask("textDocument/documentSymbol", {"textDocument": document})
    server.send("textDocument/didClose", {"textDocument": document})
    return [error for error in found if error["severity"] == 1]


def check(server, name, text):
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    errors, lines = errors_of(server, text), text.split("\n")
    if bool(errors) == (name in SHOWN):
        return f"{name}: expected {'no error' if name in SHOWN else 'an error'}, but got {errors}"
    for error in errors:
        start = error["range"]["start"]
        if start["line"] >= len(lines) or start["character"] > len(lines[start["line"]]) or not error["message"]:
            return f"{name}: expected a message with a place in the text, but got {error}"
    return ""


def main():
    server = Server(sys.argv[1:])
    server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    mistakes = [mistake for name, text, _ in BAD if (mistake := check(server, name, text))]
    if code := server.end():
        mistakes.append(f"expected exit code 0, but got {code}")
    print("\n".join(mistakes), f"{len(BAD)} documents, {len(mistakes)} failures")
    return 1 if mistakes else 0


sys.exit(main())
