// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of types in the text of ops: those of operands, of clauses that may be absent, and of results. Not: what an op
// takes its other types from (Assembly.cpp, LayerAssembly.cpp).

#ifndef RESID_DIALECT_TYPELISTS_H
#define RESID_DIALECT_TYPELISTS_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::resid {

/// A type that the text states: whose it is, where it goes, and whether the clause of its operand was written.
struct StatedType {
  StringRef name;
  Type &type;
  bool isWritten = true;
  /// Of the last ones: what they have where the list ends before them. Null: the list may not end there.
  Type unwritten = {};
};

/// Parses the types of those that were written, one after the other.
ParseResult parseTypes(OpAsmParser &parser, ArrayRef<StatedType> all);

/// Parses `(-> type (, type)*)?`; without an arrow `results` stays empty.
ParseResult parseArrowTypes(OpAsmParser &parser, SmallVectorImpl<Type> &results);
/// The same for a first result, which has the type `usual` without an arrow, and any number of others.
ParseResult parseArrowTypes(OpAsmParser &parser, Type usual, Type &first, SmallVectorImpl<Type> &others);
/// The same for a first result and one more, which may be absent and is null then. `names` are those of both.
ParseResult parseArrowTypes(OpAsmParser &parser, StringRef names, Type usual, Type &first, Type &second);

/// Prints the types that are not null, one after the other, and then those of the op's results, where they are others
/// than the parser takes them for without an arrow.
void printTypes(OpAsmPrinter &printer, Operation *op, ArrayRef<Type> stated, TypeRange usualResults);

} // namespace mlir::resid

#endif // RESID_DIALECT_TYPELISTS_H
