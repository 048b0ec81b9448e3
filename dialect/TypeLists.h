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
};

/// Parses the types of those that were written, one after the other.
ParseResult parseTypes(OpAsmParser &parser, ArrayRef<StatedType> all);
/// Prints ", type", or nothing for null.
void printClauseType(OpAsmPrinter &printer, Type type);

/// Parses `(-> type (, type)*)?`; without an arrow `results` stays empty.
ParseResult parseArrowTypes(OpAsmParser &parser, SmallVectorImpl<Type> &results);
void printArrowTypes(OpAsmPrinter &printer, TypeRange results);

} // namespace mlir::resid

#endif // RESID_DIALECT_TYPELISTS_H
