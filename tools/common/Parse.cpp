// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text to module; see Parse.h.

#include "tools/common/Parse.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tools/common/Trial.h"
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

static std::atomic<bool> parserRefused = false;

bool tools::hasParserRefused() { return parserRefused; }

namespace {

/// Knows of errors while it lives.
class ErrorWatcher {
public:
  explicit ErrorWatcher(MLIRContext &context)
      : handler(&context, [](Diagnostic &diagnostic) {
          parserRefused = parserRefused || diagnostic.getSeverity() == DiagnosticSeverity::Error;
          return failure(); // others print it
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
    return module && succeeded(tools::checkModule(*module)) ? std::move(module) : nullptr;
  }
  emitError(FileLineColLoc::get(&context, buffer->getBufferIdentifier(), 0, 0))
      << "expected bytecode that MLIR can read, but its reader fell over it or came to no end";
  return nullptr;
}

OwningOpRef<ModuleOp> tools::parseModule(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::SourceMgr &sourceManager,
                                         MLIRContext &context) {
  ErrorWatcher watcher(context);
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
  Block *body = module->getBody();
  if (llvm::hasSingleElement(*body) && isa<ModuleOp>(body->front())) {
    OwningOpRef<ModuleOp> inner(cast<ModuleOp>(body->front()));
    inner->getOperation()->remove();
    module = std::move(inner);
  }
  if (failed(verify(*module)) || failed(checkModule(*module)))
    return nullptr;
  return module;
}
