// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names that are written wrong: which one was meant, and the sentence that says so. Does not own where names are looked
// for.

#ifndef RESID_DIALECT_SPELLING_H
#define RESID_DIALECT_SPELLING_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::resid {

/// A name that other libraries use, and what it is called here.
using ForeignName = std::pair<StringLiteral, StringLiteral>;

/// The names that there are.
struct KnownNames {
  ArrayRef<StringRef> names;
  ArrayRef<ForeignName> foreign;
  /// What messages put before each name.
  StringRef prefix;
};

/// Which name was probably meant by `written`: the one that a foreign name stands for, else the one that few letters
/// turn it into (two that are swapped count as one, and capital letters as small ones), else the only one that begins
/// with it. Empty where there is none.
StringRef findNearest(StringRef written, const KnownNames &known);

/// `; did you mean 'nearest'?` where one is near, else nothing.
std::string suggestNearest(StringRef written, const KnownNames &known);

/// `'a', 'b' or 'c'`
std::string listNames(const KnownNames &known);

/// Completes a message that ends in "expected ": `what, but got 'written'; did you mean 'nearest'?`, or all names in
/// place of `what` where none is near, or `nothing` where there are no names.
void describeNames(InFlightDiagnostic &message, StringRef written, const KnownNames &known, StringRef what,
                   StringRef nothing);

} // namespace mlir::resid

#endif // RESID_DIALECT_SPELLING_H
