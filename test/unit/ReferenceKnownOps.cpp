// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the evaluator knows each op that the compiler takes: those of the dialects below stand in a program that is
// run and checked, or in a list here that says why not.

#include "codegen/Pipelines.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// What the compiler refuses by name, or takes for nothing but what it makes itself.
constexpr StringLiteral kRefused[] = {"affine.dma_start",
                                      "affine.dma_wait",
                                      "affine.for",
                                      "affine.if",
                                      "affine.load",
                                      "affine.parallel",
                                      "affine.prefetch",
                                      "affine.store",
                                      "affine.vector_load",
                                      "affine.vector_store",
                                      "affine.yield",
                                      "arith.scaling_extf",
                                      "arith.scaling_truncf",
                                      "bufferization.clone",
                                      "bufferization.dealloc",
                                      "cf.br",
                                      "cf.cond_br",
                                      "cf.switch",
                                      "func.call_indirect",
                                      "func.constant",
                                      "math.ipowi",
                                      "math.isinf",
                                      "math.isnormal",
                                      "math.sincos",
                                      "scf.condition",
                                      "scf.while"};

/// What is compiled and not evaluated: memory that is written, and values that are none.
constexpr StringLiteral kUnknown[] = {"bufferization.to_buffer", "bufferization.to_tensor"};

/// The names that the programs of the tests have.
llvm::StringSet<> collectNames() {
  llvm::StringSet<> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(RESID_TEST_RUN_FOLDER, error), end; file != end && !error;
       file.increment(error)) {
    auto buffer = llvm::MemoryBuffer::getFile(file->path());
    if (!buffer)
      continue;
    StringRef rest = (*buffer)->getBuffer();
    while (!rest.empty()) {
      rest = rest.drop_until([](char c) { return llvm::isAlpha(c); });
      StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
      names.insert(word);
      rest = rest.drop_front(word.size());
    }
  }
  return names;
}

TEST(ReferenceKnownOps, AreAllThatTheCompilerTakes) {
  DialectRegistry registry;
  resid::registerCompilerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::StringSet<> names = collectNames();
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    StringRef text = name.getStringRef();
    bool isAsked =
        llvm::is_contained({"affine", "arith", "bufferization", "cf", "func", "index", "math", "scf", "tensor"},
                           name.getDialectNamespace());
    if (isAsked && !names.contains(text) && !llvm::is_contained(kRefused, text) && !llvm::is_contained(kUnknown, text))
      ADD_FAILURE() << "expected a program in test/run that has '" << text.str() << "', or its name in a list here";
  }
}

} // namespace
