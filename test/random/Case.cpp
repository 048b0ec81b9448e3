// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/random/Case.h"
#include "tools/common/Files.h"
#include "tools/common/Parse.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::random {

std::string printCase(const Program &program, ArrayRef<const PassEntry *> order, StringRef notes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  SmallVector<StringRef> lines;
  notes.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    stream << "// " << line << '\n';
  stream << "// passes:";
  for (const PassEntry *entry : order)
    stream << ' ' << entry->name;
  stream << '\n';
  for (const EntryPoint &entry : program.entries) {
    stream << "// entry: " << entry.name;
    for (const std::string &argument : entry.arguments)
      stream << " --arg=" << argument;
    stream << '\n';
  }
  stream << printModule(*program.module);
  return text;
}

std::optional<PassOrder> parseOrder(StringRef names, char separator) {
  SmallVector<StringRef> parts;
  names.split(parts, separator, -1, /*KeepEmpty=*/false);
  PassOrder order;
  for (StringRef name : parts) {
    order.push_back(findPass(name));
    if (order.back())
      continue;
    llvm::errs() << "resid-random-programs: error: expected a pass of the table but got '" << name << "'\n";
    return std::nullopt;
  }
  return order;
}

static EntryPoint parseEntry(StringRef line) {
  SmallVector<StringRef> parts;
  line.split(parts, ' ', -1, /*KeepEmpty=*/false);
  EntryPoint entry;
  for (StringRef part : parts)
    if (part.consume_front("--arg="))
      entry.arguments.push_back(part.str());
    else
      entry.name = part.str();
  return entry;
}

std::optional<Case> readCase(MLIRContext &context, StringRef path) {
  auto input = tools::readInput(path);
  if (!input) {
    llvm::errs() << "resid-random-programs: error: " << llvm::toString(input.takeError()) << '\n';
    return std::nullopt;
  }
  Case result;
  SmallVector<StringRef> lines;
  std::string text = (*input)->getBuffer().str();
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines) {
    if (line.consume_front("// entry:"))
      result.program.entries.push_back(parseEntry(line));
    if (!line.consume_front("// passes:"))
      continue;
    auto order = parseOrder(line, ' ');
    if (!order)
      return std::nullopt;
    result.order = std::move(*order);
  }
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  result.program.module = tools::parseModule(std::move(*input), sources, context);
  if (!result.program.module)
    return std::nullopt;
  if (!result.program.entries.empty())
    return result;
  llvm::errs() << "resid-random-programs: error: " << path << ": expected a line '// entry: …' but got none\n";
  return std::nullopt;
}

} // namespace mlir::resid::random
