// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/Parse.h"

#include "dialect/QuantizedResult.h"
#include "dialect/TextHooks.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tools/common/ChildTrial.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>

using namespace mlir;
using namespace mlir::resid;

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

/// Ops whose place the text keeps quiet about, or gives a name in place of a file, stand where they are written.
static void recordPlaces(ModuleOp module, const AsmParserState &state, llvm::SourceMgr &sourceManager) {
  module.walk([&](Operation *op) {
    Location location = op->getLoc();
    const AsmParserState::OperationDefinition *definition = state.getOpDef(op);
    if (!definition || location->findInstanceOf<FileLineColLoc>())
      return;
    Location place = tools::getTextLocation(sourceManager, definition->loc.Start.getPointer(), *module.getContext());
    auto name = dyn_cast<NameLoc>(location);
    op->setLoc(name ? Location(NameLoc::get(name.getName(), place)) : place);
  });
}

/// Says what is wrong with the number at which the parser stopped, in place of `diagnostic`, if there is one.
static LogicalResult explainNumber(llvm::SourceMgr &sourceManager, const Diagnostic &diagnostic) {
  auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (!location || sourceManager.getNumBuffers() == 0)
    return failure();
  const llvm::MemoryBuffer *buffer = sourceManager.getMemoryBuffer(1);
  llvm::SMLoc place = sourceManager.FindLocForLineAndColumn(1, location.getLine(), location.getColumn());
  if (!place.isValid() || location.getFilename() != buffer->getBufferIdentifier())
    return failure();
  std::optional<WrongNumber> number = findWrongNumber(buffer->getBuffer(), place.getPointer());
  if (!number)
    return failure();
  emitError(tools::getTextLocation(sourceManager, number->place.getPointer(), *location.getContext()))
      << number->message;
  return success();
}

static std::atomic<bool> parserRefused = false;

bool tools::hasParserRefused() { return parserRefused; }

namespace {

/// Knows of errors while it lives, and says of numbers in ops that are not resid's how MLIR wants them.
class ErrorWatcher {
public:
  ErrorWatcher(llvm::SourceMgr &sourceManager, MLIRContext &context)
      : handler(&context, [&](Diagnostic &diagnostic) {
          bool isFirst = !parserRefused && diagnostic.getSeverity() == DiagnosticSeverity::Error;
          parserRefused = parserRefused || isFirst;
          return isFirst ? explainNumber(sourceManager, diagnostic) : failure(); // others print it
        }) {
    parserRefused = false; // a fault may have been survived with it
  }
  ~ErrorWatcher() { parserRefused = false; }

private:
  ScopedDiagnosticHandler handler;
};

} // namespace

/// The reader of MLIR trusts bytecode: what refers to itself sends it round for ever.
static OwningOpRef<ModuleOp> readBytecode(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  const llvm::MemoryBuffer *buffer = sourceManager.getMemoryBuffer(1);
  auto read = [&] {
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
    parseSourceFile<ModuleOp>(sourceManager, &context);
  };
  unsigned seconds = 2 + 5 * (buffer->getBufferSize() >> 20);
  if (tools::comesToAnEnd(read, seconds)) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sourceManager, &context);
    if (!module || failed(tools::checkModule(*module)))
      return nullptr;
    expandQuantizedResults(*module);
    return module;
  }
  emitError(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), 0, 0))
      << "expected bytecode that MLIR can read, but its reader fell over it or came to no end";
  return nullptr;
}

OwningOpRef<ModuleOp> tools::parseModule(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::SourceMgr &sourceManager,
                                         MLIRContext &context) {
  ErrorWatcher watcher(sourceManager, context);
  bool bytecode = buffer->getBuffer().starts_with("ML\xefR");
  sourceManager.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (bytecode)
    return readBytecode(sourceManager, context);
  if (failed(checkText(sourceManager, context)))
    return nullptr;
  Location location = getTextLocation(sourceManager, sourceManager.getMemoryBuffer(1)->getBufferStart(), context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  AsmParserState state;
  if (failed(parseAsmSourceFile(sourceManager, module->getBody(), ParserConfig(&context, /*verifyAfterParse=*/false),
                                &state)))
    return nullptr;
  // A file may hold one module of its own instead of bare functions.
  recordArgumentNames(*module, state);
  recordPlaces(*module, state, sourceManager);
  Block *body = module->getBody();
  if (llvm::hasSingleElement(*body) && isa<ModuleOp>(body->front())) {
    OwningOpRef<ModuleOp> inner(cast<ModuleOp>(body->front()));
    inner->getOperation()->remove();
    module = std::move(inner);
  }
  if (failed(verify(*module)) || failed(checkModule(*module)))
    return nullptr;
  expandQuantizedResults(*module);
  return module;
}
