// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user's test of resid-reduce: a program that is run on smaller and smaller modules. Upstream's Tester ends the
// process as by an internal error where that program cannot be run; it is the user's, so that is a message here.

#ifndef RESID_TOOLS_RESID_REDUCE_INTERESTTEST_H
#define RESID_TOOLS_RESID_REDUCE_INTERESTTEST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::resid::tools {

class InterestTest {
public:
  /// `program` is looked for as a shell does; an error says why it cannot be run.
  static llvm::Expected<InterestTest> find(llvm::StringRef program, llvm::ArrayRef<std::string> arguments);

  /// Whether the program ends with another exit code than 0, or by a signal, for a file with the text of `module`,
  /// which is its last argument. False from the first failure on, so that a reduction comes to its end.
  bool isInteresting(ModuleOp module);

  /// Why the program could not be run, or its file not be written, at some time; success where neither happened.
  llvm::Error takeFailure();

private:
  InterestTest(llvm::StringRef name, std::string program, llvm::ArrayRef<std::string> arguments)
      : name(name), program(std::move(program)), arguments(arguments.begin(), arguments.end()) {}

  llvm::Expected<int> run(ModuleOp module) const;

  std::string name, program;
  std::vector<std::string> arguments;
  std::string failure;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_REDUCE_INTERESTTEST_H
