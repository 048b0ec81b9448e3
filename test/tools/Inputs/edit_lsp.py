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

# Of ops that are not on rows of features.
VALUES = "%weight: tensor<768x768xf32>, %cos: !t, %sin: !t, %q: !h, %k: !h, %v: !h, %cache: tensor<?x8x512x64xf32>, %dheads: !h, %max: tensor<?x8x?xf32>, %sum: tensor<?x8x?xf32>"
STATISTICS = ", ".join(f"%{name}: tensor<?xf32>" for name in ("mean", "corr", "rstd"))
TOKENS = "%ids: tensor<?xi64>, %table: tensor<50257x768xf32>, %logits: tensor<?x50257xf32>, %labels: tensor<?xi64>, %dloss: tensor<?xf32>, %logsumexp: tensor<?xf32>, "
STATISTICS += "".join(f", %{name}: tensor<?x8xf32>" for name in ("gmean", "gcorr", "grstd"))
STREAMS = "%streams: tensor<?x4x768xf32>, %weights: tensor<4x1xf32>, %projection: tensor<24x3072xf32>, %mixes: tensor<?x4x4xf32>, "
RESULTS = {"resid.add_norm": "%y, %z", "resid.dyt_grad": "%y:4", "resid.attention_grad": "%y:3"}
RESULTS.update({f"resid.{norm}_norm_grad": "%y:3" for norm in ("layer", "rms", "group", "batch")})
HEADS = PROGRAM.replace("%seed: i64,", VALUES + ", %dy: !s, " + STREAMS + TOKENS + STATISTICS + ", %past: i64, %seed: i64,")
HEADS = "!h = tensor<?x8x?x64xf32>\n!t = tensor<?x32xf32>\n" + HEADS


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
        # Places are filled with what stands in them.
        line = re.sub(r"\$\{\d+[:|]([^},|]*)[^}]*\}", r"\1", item["textEdit"]["newText"])
        if item["label"] != "resid.yield":
            line = RESULTS.get(item["label"], "%y") + " = " + line
            parsed = subprocess.run([sys.argv[1]], input=HEADS.replace("LINE", line), capture_output=True, text=True, check=False)
            if parsed.returncode:
                sys.exit(f"the snippet of {item['label']} does not parse:\n{line}\n{parsed.stderr}")
    dropout = PROGRAM.replace("LINE", "%y = resid.dropout %x seed(%seed, %step) {p = 0.1, s} : !s")
    items = complete(dropout, "0.1, s")
    print("attributes:", ", ".join(item["textEdit"]["newText"] for item in items))
    print("replaces:", items[0]["textEdit"]["range"])
    print("values:", [item["label"] for item in complete(dropout, "{p = ") if item["label"] in ("p", "resid.add")])
    placements = complete(PROGRAM.replace("LINE", "%y = resid.block p"), "resid.block p")
    print("placements:", ", ".join(item["label"] for item in placements[:6]))
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
