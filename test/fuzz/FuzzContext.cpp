// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/FuzzContext.h"

#include "codegen/Pipelines.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/common/Diagnostics.h"
#include "tools/common/Parse.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <cstdlib>
#include <memory>

using namespace mlir;
using namespace mlir::resid;

/// Types and attributes stay in a context until it ends, so it is renewed after this many inputs.
static constexpr unsigned inputsPerContext = 2000;

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}

void fuzz::withModule(llvm::StringRef text, llvm::function_ref<void(ModuleOp)> use) {
  static std::unique_ptr<MLIRContext> context;
  static unsigned inputs = 0;
  if (inputs++ % inputsPerContext == 0 || !context)
    context = makeContext();
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  llvm::SourceMgr sourceManager;
  OwningOpRef<ModuleOp> module;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool survived = recovery.RunSafely([&] {
    tools::DiagnosticPrinter printer(sourceManager, *context, stream);
    module = tools::parseModule(llvm::MemoryBuffer::getMemBufferCopy(text, "input"), sourceManager, *context);
  });
  llvm::CrashRecoveryContext::Disable();
  if (survived) {
    if (module)
      use(*module);
    return;
  }
  // Where the parser falls over what it has refused, the tools end with the error; anything else is a finding. What the
  // fault left behind is not used again, and not taken apart either.
  if (!tools::hasParserRefused())
    abort();
  (void)context.release();
}
