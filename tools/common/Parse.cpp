// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text to module; see Parse.h.

#include "tools/common/Parse.h"
#include "llvm/ADT/StringExtras.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

static Location locationOf(llvm::SourceMgr &sourceManager, const char *place, MLIRContext &context) {
  unsigned id = sourceManager.getMainFileID();
  auto [line, column] = sourceManager.getLineAndColumn(llvm::SMLoc::getFromPointer(place), id);
  return FileLineColLoc::get(&context, sourceManager.getMemoryBuffer(id)->getBufferIdentifier(), line, column);
}

/// Skips a string literal or a comment that starts at `place`; returns where it ends.
static const char *skipText(const char *place, const char *end) {
  if (*place == '"') {
    for (++place; place != end && *place != '"' && *place != '\n'; ++place)
      if (*place == '\\' && place + 1 != end)
        ++place;
    return place;
  }
  while (place != end && *place != '\n')
    ++place;
  return place;
}

/// Reports zero bytes, and nesting beyond the limit.
static LogicalResult checkNesting(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  StringRef text = sourceManager.getMemoryBuffer(sourceManager.getMainFileID())->getBuffer();
  auto error = [&](const char *place) { return emitError(locationOf(sourceManager, place, context)); };
  unsigned depth = 0, signs = 0;
  for (const char *place = text.begin(), *end = text.end(); place < end; ++place) {
    char c = *place;
    // Signs in front of each other nest in the parser as brackets do.
    signs = c == '-' ? signs + 1 : llvm::isSpace(c) ? signs : 0;
    if (signs > tools::maxNesting)
      return error(place) << "expected at most " << tools::maxNesting << " signs in front of each other, but got more";
    if (c == '\0')
      return error(place) << "expected text, but got a zero byte";
    if (c == '"' || (c == '/' && place + 1 != end && place[1] == '/')) {
      place = skipText(place, end);
      if (place == end)
        break;
      continue;
    }
    bool arrow = c == '>' && place != text.begin() && place[-1] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > tools::maxNesting)
        return error(place) << "expected brackets to nest at most " << tools::maxNesting
                            << " deep, but they nest deeper";
    } else if ((c == ')' || c == ']' || c == '}' || (c == '>' && !arrow)) && depth > 0) {
      --depth;
    }
  }
  return success();
}

/// Elided weights would parse to a module that means nothing.
static LogicalResult checkWeights(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  StringRef text = sourceManager.getMemoryBuffer(sourceManager.getMainFileID())->getBuffer();
  size_t elided = text.find("__elided__");
  if (elided != StringRef::npos)
    return emitError(locationOf(sourceManager, text.data() + elided, context))
           << "expected the values of a constant, but got '__elided__': the file was "
              "printed without its weights";
  return success();
}

LogicalResult tools::checkText(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  return failure(failed(checkNesting(sourceManager, context)) || failed(checkWeights(sourceManager, context)));
}

/// The name as written, without the sigil: `%x` gives `x`; a number gives nothing.
static StringRef writtenName(const AsmParserState::SMDefinition &definition) {
  StringRef text(definition.loc.Start.getPointer(),
                 definition.loc.End.getPointer() - definition.loc.Start.getPointer());
  text.consume_front("%");
  return text.empty() || llvm::isDigit(text.front()) ? StringRef() : text;
}

static void recordArgumentNames(ModuleOp module, const AsmParserState &state) {
  StringAttr key = StringAttr::get(module.getContext(), "resid.name");
  module.walk([&](func::FuncOp function) {
    if (function.isExternal())
      return;
    const AsmParserState::BlockDefinition *block = state.getBlockDef(&function.getBody().front());
    if (!block)
      return;
    for (auto [index, argument] : llvm::enumerate(block->arguments)) {
      StringRef name = writtenName(argument);
      if (!name.empty() && index < function.getNumArguments() && !function.getArgAttr(index, key))
        function.setArgAttr(index, key, StringAttr::get(module.getContext(), name));
    }
  });
}

OwningOpRef<ModuleOp> tools::parseModule(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::SourceMgr &sourceManager,
                                         MLIRContext &context) {
  bool bytecode = buffer->getBuffer().starts_with("ML\xefR");
  sourceManager.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (bytecode)
    return parseSourceFile<ModuleOp>(sourceManager, &context);
  if (failed(checkText(sourceManager, context)))
    return nullptr;
  Location location = locationOf(sourceManager, sourceManager.getMemoryBuffer(1)->getBufferStart(), context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  AsmParserState state;
  if (failed(parseAsmSourceFile(sourceManager, module->getBody(), ParserConfig(&context, /*verifyAfterParse=*/false),
                                &state)))
    return nullptr;
  // A file may hold one module of its own instead of bare functions.
  recordArgumentNames(*module, state);
  Block *body = module->getBody();
  if (llvm::hasSingleElement(*body) && isa<ModuleOp>(body->front())) {
    OwningOpRef<ModuleOp> inner(cast<ModuleOp>(body->front()));
    inner->getOperation()->remove();
    module = std::move(inner);
  }
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
