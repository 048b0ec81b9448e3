# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# architecture_tasks.py SOURCE BUILD SCRATCH: holds the table of tasks in docs/architecture.md to the sources. Each task
# is done in its smallest form on a copy: a kind is added, or a name taken away. The compiler then names the files that
# do not know of it. Files with a list of a task's kinds are found by their text. Together these files are those of the
# task's row, or the two sets are printed.
# Owns: what stands for each task. Does not own: the table, nor which files are product (PRODUCT).

import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

PRODUCT = ("dialect", "passes", "codegen", "runtime", "reference", "diagram", "tools", "python")
PLACEMENTS = {"Post": "post", "Pre": "pre", "BranchPost": "branch_post", "Peri": "peri", "PostShifted": "post_shifted"}
NORMS = {"Layer": "layer", "RMS": "rms", "DyT": "dyt", "Group": "group", "L2": "l2"}
CONNECTIONS = {"Static": "static", "Gated": "gated", "IHC": "ihc", "MHC": "mhc"}
OUTPUTS = ("obj", "shared", "asm", "llvm", "ptx", "mlir", "svg", "header")
STATUSES = ("BAD_POINTER", "BAD_SHAPE", "BAD_DTYPE", "BAD_VALUE", "ALIAS", "UNSUPPORTED", "OOM", "NO_DEVICE", "LAUNCH",
            "VERSION", "INTERNAL")

# What is edited in the copy: file, text, text in its place. All at once, so that each file is compiled once. Errors say
# which edit they come from.
EDITS = (
    ("dialect/NormKinds.td", r'"L2", 4, "l2">', r'\g<0>, I32EnumAttrCase<"TaskNorm", 5, "task">'),
    ("dialect/Placement.td", r'"None", 5, "none">', r'\g<0>, I32EnumAttrCase<"TaskPlacement", 6, "task">'),
    ("passes/Choices.td", r'Resid_Choice<"MHC", 3.*?>',
     r'\g<0>, Resid_Choice<"TaskKind", 4, "task", "">'),
    ("codegen/machine/Object.h", r"enum class CodeKind \{", r"\g<0> TaskCode,"),
    ("runtime/resid.h", r"RESID_INTERNAL = -11", r"RESID_TASK = -12, \g<0>"),
    ("dialect/DropoutScheme.h", r"dropoutColumnsPerCall = 8;", r"dropoutColumnsPerCall = 4;"),
    ("codegen/cpu/choice/ScheduleTable.h", r"unalignedColumns\b", r"taskColumns"),
)
# TableGen's outputs that the edits change.
TABLES = (
    ("dialect/ResidOps.td", "dialect/ResidEnums.h.inc", "-gen-enum-decls"),
    ("passes/Choices.td", "passes/Choices.h.inc", "-gen-enum-decls"),
    ("passes/Choices.td", "passes/Choices.cpp.inc", "-gen-enum-defs"),
)
# A file that has one of these may have an error that an edit brings: a switch, an assertion, or a name that is gone.
MAY_FAIL = re.compile(r"\b(?:NormKind|Placement|ConnectionKind|CodeKind|RESID_[A-Z_]+|kColumns)\b|ColumnsPerC")
COMMENT = re.compile(r"(?ms)/\*.*?\*/|^[ \t]*(?://|#(?!\s*(?:include|define)))[^\n]*$|[ \t]//[ \t][^\n]*$")
CHOOSES = re.compile(r"\bswitch \(|\bstatic_assert\(")

# A second home for the fact of each task. None may go unnoticed.
PLANTED = {
    "add a norm kind": 'static const char *kinds[] = {"layer", "rms", "group"};',
    "add a connection to several streams": 'kinds = ("static", "ihc")',
    "change the dropout layout": "constexpr int kColumnsPerCall = 8;",
    "add a placement": "pre, branch_post, peri or post",
    "add `--emit=bitcode`": '"obj,asm,llvm,ptx,mlir"',
    "add a status code": "RESID_ALIAS, RESID_OOM, RESID_LAUNCH, RESID_VERSION, RESID_INTERNAL",
    "change when stores go past the cache": "unaligned_columns = 64",
    "add a warning to `resid-check-stream`": "checkUnfilled(module);",
    "teach the evaluator an op": "if (isa<EmbeddingOp>(op))",
    "add a micro-kernel for other registers": "{32, 1, {8, 3}},\n{32, 2, {6, 2}},\n{32, 4, {6, 1}},\n",
    "allow six norms in a kernel": "constexpr int kMaxNormsOfRow = 4;",
    "add an int8 output to a norm": "Value Code::castFloat(Value a)",
    "add a sliding window (a new clause of attention)": "attention.getWindow()",
    "add an op to an importer": 'OPERATORS = ["CumSum"]',
}


class Sources:
    """The text of every product file without comments. Descriptions of ops and passes, which become pages, are left."""

    def __init__(self, root):
        self.root = root
        names = [p for folder in PRODUCT for p in (root / folder).rglob("*") if p.is_file()]
        kinds = (".cpp", ".h", ".td", ".py", ".def", ".inc", ".ll", ".c", ".txt", ".pyi")
        texts = {p.relative_to(root).as_posix(): p.read_text("utf-8") for p in names if p.suffix in kinds}
        self.code = {name: COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
                     for name, text in texts.items()}

    def having(self, pattern, folder="", among=None):
        """The files whose code has the pattern."""
        return {name for name, text in (among or self.code).items()
                if name.startswith(folder) and re.search(pattern, text)}

    def listing(self, patterns, few=(3, 3), many=(3, 30)):
        """The files with so many of the patterns in so many lines, by one of the two pairs."""
        found, patterns = set(), [re.compile(pattern) for pattern in patterns]
        for name, text in self.code.items():
            if sum(bool(pattern.search(text)) for pattern in patterns) < min(few, many)[0]:
                continue
            hits = [(line, kind) for line, words in enumerate(text.split("\n"))
                    for kind, pattern in enumerate(patterns) if pattern.search(words)]
            for count, lines in (few, many):
                if any(len({kind for line, kind in hits if first <= line < first + lines}) >= count
                       for first, _ in hits):
                    found.add(name)
        return found


def words_of(enum, names):
    """Patterns of the kinds of an enum: in C++, and as words of the text."""
    return [rf"\b{enum}::{symbol}\b|[\"'`,|]{name}[\"'`,|]" for symbol, name in names.items()]


def edit(source, scratch):
    for folder in PRODUCT:
        shutil.copytree(source / folder, scratch / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in EDITS:
        text = (scratch / name).read_text("utf-8")
        changed, count = re.subn(old, new, text, flags=re.S)
        if count != 1:
            sys.exit(f"{name}: expected '{old}' once but found it {count} times; this script edits it")
        (scratch / name).write_text(changed, "utf-8")


def generate(scratch, generated, include):
    """TableGen's outputs of the copy, before those of the build."""
    for table, output, action in TABLES:
        (generated / output).parent.mkdir(parents=True, exist_ok=True)
        # TableGen looks for includes where it runs.
        subprocess.run(["mlir-tblgen", action, f"-I{include}", table, "-o", generated / output], cwd=scratch, check=True)


def compile_copy(source, build, scratch, sources):
    """The errors of the copy: pairs of a file and a message."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text("utf-8")):
        files = [entry["file"]]
        if "/Unity/" in files[0]:  # several sources that are compiled as one
            files = re.findall(r'#include "(.+)"', pathlib.Path(files[0]).read_text("utf-8"))
        for name in files:
            commands.setdefault(name.removeprefix(f"{source}/"), entry["command"])
    generated = scratch / "generated"
    generate(scratch, generated, re.search(r"-(?:isystem |I)(\S*llvm\S*)", commands["dialect/Placement.cpp"])[1])
    chosen = {name for name, text in sources.code.items() if name.endswith((".cpp", ".h")) and (
        MAY_FAIL.search(text) and CHOOSES.search(text) or "unalignedColumns" in text)}
    # A header is compiled in one of the files that include it.
    for header in [name for name in chosen if name.endswith(".h")]:
        chosen |= set(sorted(sources.having(re.escape(f'#include "{header}"')) & commands.keys())[:1])

    def move(word):
        folder = pathlib.Path(word[2:])
        stays = not word.startswith("-I") or folder.is_relative_to(build) or not folder.is_relative_to(source)
        return word if stays else f"-I{scratch / folder.relative_to(source)}"

    # What the build compiles as one is compiled as one here too: headers are then read once for several sources.
    units = {}
    for name in sorted(chosen & commands.keys()):
        units.setdefault(commands[name], []).append(name)

    def run(number, command, names):
        unit = generated / f"unit{number}.cpp"
        unit.write_text("".join(f'#include "{scratch / name}"\n' for name in names), "utf-8")
        compiler, *words = shlex.split(command)
        at = words.index("-o")
        words[at:at + 2] = ["-fsyntax-only", "-ferror-limit=0"]
        words = [move(word) for word in words if word != "-c"]
        words[-1] = str(unit)
        command = [compiler, f"-I{generated}", *words]
        output = subprocess.run(command, cwd=build, capture_output=True, text=True).stderr
        return re.findall(rf"(?m)^{re.escape(str(scratch))}/(\S+?):\d+:\d+: error: (.*)$", output)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return sorted({error for errors in pool.map(run, range(len(units)), *zip(*units.items())) for error in errors})


def find_files(source, sources, errors):
    """For each task the files that have to change."""

    def fails(pattern):
        return {name for name, message in errors if re.search(pattern, message)}

    edited = [name for name, _, _ in EDITS]
    norm, placement, connection, output, status, dropout, threshold = edited
    documents = {p.relative_to(source).as_posix(): p.read_text("utf-8") for p in (source / "docs").rglob("*.md")}
    return {
        "add a norm kind": {norm} | fails(r"TaskNorm|NormKind") | sources.listing(words_of("NormKind", NORMS))
        | sources.having(r"\bDyTOp::build\b|def Resid_DyTOp\b"),
        "add a connection to several streams": {connection} | fails("TaskKind")
        | sources.listing(words_of("ConnectionKind", CONNECTIONS), few=(2, 3)),
        "change the dropout layout": {dropout} | fails("column|kColumns")
        | sources.having(r"\beight of them per call|(?i:columns_?per_?(?:call|counter))\w*\s*=\s*\d"),
        "add a placement": {placement} | fails("TaskPlacement")
        | sources.listing([rf"\bPlacement::{symbol}\b|(?<![\w.\-`])`?{name}`?(?![\w\-`])"
                           for symbol, name in PLACEMENTS.items()], few=(4, 3), many=(5, 30)),
        "add `--emit=bitcode`": {output} | fails("TaskCode")
        | sources.listing([f"[\"'`,|]{name}[\"'`,|]" for name in OUTPUTS], few=(4, 5), many=(5, 30)),
        "add a status code": {status} | fails("RESID_TASK")
        | sources.listing([rf"\bRESID_{name}\b" for name in STATUSES], few=(5, 8), many=(8, 40))
        | sources.listing([rf"(?<![\w.-])-{number}: " for number in range(1, 12)], few=(5, 8)),
        "change when stores go past the cache": {threshold} | fails("unalignedColumns")
        | sources.having(r"(?i)\bunaligned[-_]?columns\s*=\s*\d"),
        "add a warning to `resid-check-stream`": sources.having(r"\bcheckUnfilled\b|UnfilledChecks.cpp"),
        "teach the evaluator an op": sources.having(r"\bEmbeddingOp\b|\bembedding\(", "reference/"),
        "add a micro-kernel for other registers": sources.having(r"(?m)(?:^\s*\{\d+, \d+, \{\d+, \d+\}\},.*\n){3}"),
        "allow six norms in a kernel": sources.having(r"(?i)max\w*norms?\w*\s*=\s*\d")
        | sources.having(r"\bfour norms\b", among=documents),
        "add an int8 output to a norm": sources.having(
            r"def Resid_RMSNormOp\b|Value Code::castFloat\(|Interpreter::norm\("),
        "add a sliding window (a new clause of attention)": sources.having(
            r"(?i)\bwindow\b|getWindow", among={n: t for n, t in sources.code.items() if "ttention" in t or "SeenKeys" in t}),
        "add an op to an importer": sources.having(r"[\"'`]CumSum\b") | sources.having("`CumSum`", among=documents),
    }


def find_unnoticed(source):
    """The tasks with a second home that the checks of texts do not find."""
    planted = Sources(source / "none")
    planted.code = {f"reference/planted{number}": text for number, text in enumerate(PLANTED.values())}
    found = find_files(source, planted, [])
    return [task for number, task in enumerate(PLANTED) if f"reference/planted{number}" not in found[task]]


def find_silent(sources):
    """Switches over kinds of resid's own that a new kind passes by without an error."""
    own = {name for text in sources.code.values()
           for names in re.findall(r'\benum (?:class )?(\w+)|I32EnumAttr<"(\w+)"', text) for name in names}
    for name, text in sources.code.items():
        # clang-format ends a switch by a brace below its first word.
        for space, body in re.findall(r"(?ms)^( *)switch \((.*?)^\1\}", text if name.endswith((".cpp", ".h")) else ""):
            kinds = set(re.findall(r"\bcase (?:\w+::)*?(\w+)::\w+:(?!:)", body))
            if re.search(rf"(?m)^{space}default:", body) and (kinds & own or "case RESID_" in body):
                yield f"{name}: expected a case for each of {', '.join(kinds & own) or 'the statuses'}, but got default"


def read_table(source):
    """The rows of the table: task and files."""
    page = (source / "docs/architecture.md").read_text("utf-8")
    section = page[page.index("tasks, and where they are done"):].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| (.*?) \| (.*?) \|$", section)
    return {task: set(re.findall(r"`([\w./-]+/[\w./-]+)`", files)) for task, files in rows[1:]}


def main():
    source, build, scratch = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    sources = Sources(source)
    edit(source, scratch)
    errors = compile_copy(source, build, scratch, sources)
    found, table = find_files(source, sources, errors), read_table(source)
    bad = [f"{task}: expected in both the table and this script" for task in sorted(found.keys() ^ table.keys())]
    for task in found.keys() & table.keys():
        bad += [f"{task}: {name} has to change, and is not in the table" for name in sorted(found[task] - table[task])]
        bad += [f"{task}: {name} is in the table, and need not change" for name in sorted(table[task] - found[task])]
    bad += [f"{name}: no task explains the error: {message}" for name, message in errors
            if name not in set().union(*found.values())]
    bad += find_silent(sources)
    bad += [f"{task}: a second home goes unnoticed" for task in find_unnoticed(source)]
    print("\n".join(bad))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
