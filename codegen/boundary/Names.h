// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for C and C++. Does not own which functions of a program would then have one name.

#ifndef RESID_CODEGEN_BOUNDARY_NAMES_H
#define RESID_CODEGEN_BOUNDARY_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace mlir::resid::boundary {

/// `name` as an identifier of C and C++. Where a keyword, macro or type of a generated header has that name, a `_`
/// stands after it.
std::string makeIdentifier(llvm::StringRef name);

/// makeIdentifier() for a function. It also avoids names of the C library and of the runtime: the program that it is
/// linked into would call it in their place, or has other declarations of the name.
std::string makeFunctionName(llvm::StringRef name);

/// Whether C's or POSIX's headers declare the name, or define it as a macro in lower case. Without the names that LLVM's
/// TargetLibraryInfo knows.
bool isLibraryName(llvm::StringRef name);

/// The words of a text.
llvm::StringSet<> makeNameSet(llvm::StringRef words);

/// Hands out parameter names, each once.
class ParameterNames {
public:
  std::string take(llvm::StringRef wanted);

private:
  llvm::StringSet<> taken;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_NAMES_H
