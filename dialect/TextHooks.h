// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all ops of the dialect refuse in their text beside what MLIR does: attributes that an op does not define, and
// numbers that MLIR does not know as such. Does not own the text itself (Assembly.h) or its other checks.
// A custom directive serves neither: MLIR reads `1e-5` as the integer 1 and a word, in every place that takes a number,
// and says "expected '}' in attribute dictionary".

#ifndef RESID_DIALECT_TEXTHOOKS_H
#define RESID_DIALECT_TEXTHOOKS_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::resid {

/// Each attribute of `op` that it does not define has a dot in its name, as those of other dialects have. A misspelled
/// attribute would otherwise leave the one that was meant at its default.
LogicalResult verifyDefinedAttributes(Operation *op);

/// Checks the properties of the generic form for names that the op does not define. MLIR itself ignores such names.
LogicalResult verifyDefinedProperties(ArrayRef<StringRef> defined, Attribute properties,
                                      function_ref<InFlightDiagnostic()> emitError);

/// Calls `parse`; where it stops at a number that MLIR reads as something else, or at a clause that belongs before one
/// that is written already, the error says how to write it.
ParseResult parseWithHints(OpAsmParser &parser, function_ref<ParseResult()> parse);

/// A number that MLIR reads as something else: its place, and what is to be said of it.
struct WrongNumber {
  llvm::SMLoc place;
  std::string message;
};

/// The number within `text` at which MLIR's parser stopped, at `place`.
std::optional<WrongNumber> findWrongNumber(StringRef text, const char *place);

/// Reports an op of the dialect's name space that there is not.
ParseResult parseUnknownOp(OpAsmParser &parser, OperationState &state);

template <typename ConcreteOp> class DefinedAttributes : public OpTrait::TraitBase<ConcreteOp, DefinedAttributes> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyDefinedAttributes(op); }
};

/// What is registered in place of `OpT`: the same op, read with more care. A program never holds one of these.
template <typename OpT> class WithTextHooks : public OpT {
public:
  using OpT::OpT;

  static ParseResult parse(OpAsmParser &parser, OperationState &state) {
    return parseWithHints(parser, [&] { return OpT::parse(parser, state); });
  }

  template <typename Properties>
  static LogicalResult setPropertiesFromAttr(Properties &properties, Attribute attribute,
                                             function_ref<InFlightDiagnostic()> emitError) {
    if (failed(verifyDefinedProperties(OpT::getAttributeNames(), attribute, emitError)))
      return failure();
    return OpT::setPropertiesFromAttr(properties, attribute, emitError);
  }
};

} // namespace mlir::resid

/// An op is looked up by the identity of `OpT`.
template <typename OpT> class mlir::detail::TypeIDResolver<mlir::resid::WithTextHooks<OpT>> {
public:
  static TypeID resolveTypeID() { return TypeID::get<OpT>(); }
};

#endif // RESID_DIALECT_TEXTHOOKS_H
