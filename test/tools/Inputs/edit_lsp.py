# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the server says to somebody who writes a program of resid: pages of ops, completion, warnings.
# Arguments: resid-opt, and the server's command line. Prints what the server says, a line each.

import re
import subprocess
import sys

from lsp_client import Server

said = []
server = Server(sys.argv[2:], said.append)
snippets = {"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}}
server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": snippets})
document = {"uri": "file:///a%3Ab/program.mlir"}
version = 0


def write(text):
    """The document has this text now; its diagnostics."""
    global version
    version += 1
    opened = {"textDocument": {**document, "languageId": "mlir", "version": version, "text": text}}
    changed = {"textDocument": {**document, "version": version}, "contentChanges": [{"text": text}]}
    server.send("textDocument/didOpen" if version == 1 else "textDocument/didChange", opened if version == 1 else changed)
    message = server.receive()
    assert message["method"] == "textDocument/publishDiagnostics" and message["params"]["version"] == version, message
    return message["params"]["diagnostics"]


def ask_behind(method, text, word, **more):
    before = text[: text.index(word) + len(word)]
    units = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
    position = {"line": before.count("\n"), "character": units}
    return server.ask("textDocument/" + method, {"textDocument": document, "position": position, **more})


def show_hover(what, text, word):
    page = ask_behind("hover", text, word)["contents"]
    parts = [part for part in ("Formula", "Operands", "Constraints", "Gradient", "Example", "Generic Form") if part in page["value"]]
    print(f"hover {what}: {page['kind']}, {page['value'].splitlines()[0]}, {', '.join(parts)}")


def complete(text, word):
    write(text)
    items = ask_behind("completion", text, word, context={"triggerKind": 1})["items"]
    return sorted(items, key=lambda item: item.get("sortText", item["label"]))


PROGRAM = """\
!s = tensor<?x768xf32>
!v = tensor<768xf32>
func.func @f(%x: !s, %f: !s, %gamma: !v, %beta: !v, %bias: !v, %alpha: tensor<f32>, %seed: i64, %step: i64) -> !s {
  LINE
  return %x : !s
}
"""

def check_hover():
    text = PROGRAM.replace("LINE", "%y = resid.add %x, %f : !s")
    print("diagnostics:", write(text))
    show_hover("on an op", text, "resid.a")
    broken = PROGRAM.replace("LINE", "// 🙂\n  %y = resid.rms_norm %x gamma(")
    print("diagnostics:", [d["severity"] for d in write(broken)])
    show_hover("where nothing parses", broken, "resid.rms")
    print("hover beside:", ask_behind("hover", broken, "gamma("))


def check_completion():
    items = complete(PROGRAM.replace("LINE", "%y = resid."), "%y = resid.")
    ops = [item for item in items if item["label"].startswith("resid.")]
    assert ops == items[: len(ops)], "the ops of resid come first"
    print("ops:", ", ".join(item["label"] for item in ops))
    everything = [item["label"] for item in complete(PROGRAM.replace("LINE", "%y = "), "%y = ")]
    print("all dialects: arith", "arith" in everything, "rows", [label for label in everything if "rows" in label])
    for item in ops:
        # Places are filled with what stands in them. Written again before its use in the page's example, it parses.
        filled = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", item["textEdit"]["newText"])
        example = re.search(r"Example.*?```mlir\n(.*?)```", item["documentation"]["value"], re.DOTALL).group(1)
        use = re.search(rf"(%[^=\n]+= )?{item['label']} ", example)
        results = re.sub(r"%(\w+)", r"%\1_again", use.group(1) or "")
        if results:
            example = f"{example[: use.start()]}{results}{filled}\n{example[use.start() :]}"
        parsed = subprocess.run([sys.argv[1]], input=example, capture_output=True, text=True, check=False)
        if parsed.returncode or filled == item["label"]:
            sys.exit(f"the snippet of {item['label']} does not parse:\n{filled}\n{parsed.stderr}")
    begun = complete(PROGRAM.replace("LINE", "%y = resid.ad"), "%y = resid.ad")
    print("replaces:", begun[0]["textEdit"]["range"])
    values = complete(PROGRAM.replace("LINE", "%y = resid.add %x, "), "resid.add %x, ")
    print("values:", [item["label"] for item in values if item["label"] in ("%f", "resid.add")])
    placements = complete(PROGRAM.replace("LINE", "%y = resid.block "), "resid.block ")
    print("placements:", ", ".join(item["label"] for item in placements))
    comment = complete(PROGRAM.replace("LINE", "// resid."), "// resid.")
    print("comment:", [item["label"] for item in comment])


def check_warnings():
    wrong = PROGRAM.replace("LINE", "%a = resid.add %x, %f : !s\n  %y = resid.dropout %a seed(%seed, %step) {p = 0.1, site = 0} : !s")
    wrong = wrong.replace("return %x", "return %y")
    for text in (wrong, wrong + "\n// -----\n\n" + wrong, wrong.replace("-> !s", "-> !t"), PROGRAM.replace("LINE", "")):
        for found in write(text):
            start = found["range"]["start"]
            print(f"severity {found['severity']} of {found['source']} at {start['line'] + 1}:{start['character'] + 1}:", found["message"].split("\n"))
            for related in found.get("relatedInformation", []):
                print(f"  at {related['location']['range']['start']['line'] + 1}: {related['message']}")
    print("done")
    write(wrong)
    server.send("textDocument/didClose", {"textDocument": document})
    print("closed:", server.receive()["params"]["diagnostics"])


check_hover()
check_completion()
check_warnings()
print("exit code:", server.end())
