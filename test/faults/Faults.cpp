// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mistakes for the tools to report, preloaded or linked: in the place of mlir::PassManager::run (residc, resid-run,
// resid-reduce), mlir::MlirOptMain (resid-opt) and mlir::MlirLspServerMain (resid-lsp-server) happens what the
// environment variable RESID_FAULT names. The tools know nothing of it. `segfault-and-abort` fails a second time in a
// function of the C library that the report of the first one calls.

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/resource.h>

using namespace mlir;

/// Deeper than any stack; the frames are too small to jump over a guard page.
static int fillStack(volatile int *above) {
  volatile int here[64] = {*above};
  if (here[0] != 0) // which it never is
    return 0;
  return fillStack(here) + here[0];
}

/// `module` is null where there is none at hand.
static LogicalResult fail(Operation *module) {
  const char *variable = std::getenv("RESID_FAULT");
  std::string fault = variable ? variable : "";
  volatile int zero = 0;
  if (fault == "segfault" || fault == "segfault-and-abort")
    *reinterpret_cast<volatile int *>(zero) = 1;
  if (fault == "segfault-with-files") {
    // LLVM's own handlers come into place, as when outputs are written.
    llvm::sys::RemoveFileOnSignal(std::getenv("RESID_FAULT_FILE"));
    *reinterpret_cast<volatile int *>(zero) = 1;
  }
  if (fault == "abort")
    std::abort();
  if (fault == "overflow")
    fillStack(&zero);
  if (fault == "fatal")
    llvm::report_fatal_error("cannot select: a fault of the test");
  if (fault == "memory")
    llvm::report_bad_alloc_error("a fault of the test");
  if (fault == "stage" && module) {
    // A terminator is missing, which the verifier sees.
    module->walk([](Operation *op) {
      if (op->hasTrait<OpTrait::IsTerminator>())
        op->erase();
    });
  }
  return failure();
}

// NOLINTNEXTLINE: takes the place of the member of MLIR.
LogicalResult PassManager::run(Operation *op) { return fail(op); }

LogicalResult mlir::MlirOptMain(llvm::raw_ostream &, std::unique_ptr<llvm::MemoryBuffer>, DialectRegistry &,
                                const MlirOptMainConfig &) {
  return fail(nullptr);
}

LogicalResult mlir::MlirLspServerMain(int, char **, DialectRegistry &) { return fail(nullptr); }

extern "C" const char *strerrordesc_np(int number) noexcept {
  const char *fault = std::getenv("RESID_FAULT");
  if (fault && std::strcmp(fault, "segfault-and-abort") == 0)
    std::abort();
  return reinterpret_cast<const char *(*)(int)>(dlsym(RTLD_NEXT, "strerrordesc_np"))(number);
}
