# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A session of an editor with a language server, in the real protocol.
# Arguments: a program without mistakes, and the server's command line. Prints what the server says, a line each.

import sys

from lsp_client import Server


def place(range):
    return "{}:{}".format(range["start"]["line"] + 1, range["start"]["character"] + 1)


def show_diagnostics(message):
    if message.get("method") == "textDocument/publishDiagnostics":
        found = message["params"]["diagnostics"]
        print("diagnostics:", "; ".join(f"{place(d['range'])} {d['message']}" for d in found) or "none")


def position_of(text, word):
    before = text[: text.index(word)]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


text = open(sys.argv[1], encoding="utf-8").read()
document = {"uri": "file:///program.mlir"}
server = Server(sys.argv[2:], show_diagnostics)
capabilities = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
print("offers:", ", ".join(sorted(name for name, value in capabilities.items() if value)))
server.send("initialized", {})

server.send("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}})
show_diagnostics(server.receive())


def ask_at(method, word):
    return server.ask(method, {"textDocument": document, "position": position_of(text, word)})


for word in ("resid.layer_norm", "%s gamma"):
    print(f"hover on {word}:", ascii(ask_at("textDocument/hover", word)["contents"]["value"]))
for word in ("%s gamma", "%x, %d"):
    print(f"definition of {word}:", place(ask_at("textDocument/definition", word)[0]["range"]))

wrong = text.replace("epsilon = 1.0e-5", "epsilon = -1.0e-5")
server.send("textDocument/didChange",
            {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": wrong}]})
show_diagnostics(server.receive())
unknown = text.replace("resid.add ", "resid.plus ")
server.send("textDocument/didChange",
            {"textDocument": {**document, "version": 3}, "contentChanges": [{"text": unknown}]})
show_diagnostics(server.receive())


def change(version, new):
    server.send("textDocument/didChange",
                {"textDocument": {**document, "version": version}, "contentChanges": [{"text": new}]})
    message = server.receive()
    assert message["params"]["version"] == version
    show_diagnostics(message)


# What would end the parser. Nothing is known about such a document, and the server lives on.
nested = text + '"test.deep"() {a = ' + "[" * 1000000 + "]" * 1000000 + "} : () -> ()\n"
zero_byte, signs = text.replace("resid.add ", "resid.\0 "), text.replace("?x768", "?x768, " + "-" * 999)
type = "tensor<?x768xf32>"
falling = f"{text}// -----\n" + text.replace("resid.add ", f"linalg.transpose ins(%x : {type}) outs(%x : {type}) permutation = ] ")
for version, hostile in enumerate([nested, zero_byte, falling, signs], 4):
    change(version, hostile)
for method in ("hover", "definition", "references", "documentSymbol", "completion", "codeAction"):
    position = position_of(text, "%s gamma")
    context = {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1}
    place_in_text = {"position": position, "range": {"start": position, "end": position}}
    asked = {"textDocument": document, "context": context, **place_in_text}
    answer = server.ask("textDocument/" + method, asked)
    print(f"{method}:", answer.get("items") if isinstance(answer, dict) else answer)
change(8, text)
print("definition of %s gamma:", place(ask_at("textDocument/definition", "%s gamma")[0]["range"]))
server.send("textDocument/didClose", {"textDocument": document})
show_diagnostics(server.receive())
server.send("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 9, "text": nested}})
show_diagnostics(server.receive())
print("exit code:", server.end())
