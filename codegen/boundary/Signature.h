// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled function looks like from C: names, types, run-time sizes and which buffers may be shared. Plain data,
// also as an attribute, so that it can travel with the function through the pipeline. Does not own: how it is derived.

#ifndef RESID_CODEGEN_BOUNDARY_SIGNATURE_H
#define RESID_CODEGEN_BOUNDARY_SIGNATURE_H

#include "codegen/boundary/SizeExpression.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::resid::boundary {

/// The name of the attribute that carries a KernelSignature on a function.
constexpr llvm::StringLiteral kSignatureAttribute = "resid.signature";
/// The largest number of bytes of one array: 2^47.
constexpr int64_t kByteLimit = kSizeLimit;

/// One run-time size among the C parameters, such as x_dim0.
struct SizeParameter {
  std::string name;
  unsigned argument = 0;
  unsigned dimension = 0;
  /// The first size parameter that must be equal to this one; its own index if there is none before it.
  unsigned sameAs = 0;
  /// What the size must be, if only one value is possible; else -1.
  int64_t fixed = -1;
};

/// An argument or a result. Arrays have a pointer in C, scalars are passed by value.
struct KernelValue {
  std::string name;
  Type type;
  /// Of an array, per dimension: the static size, or -1 - i where i is the size parameter that gives it; of a result
  /// also -1 - (number of size parameters) - j where j is the derived size that gives it. Of an array of i4: that of
  /// its bytes.
  SmallVector<int64_t> shape;
  /// Of a strided array: the C parameter that says how far apart its rows (all dimensions but the last, flattened) are.
  std::string stride = {};
  /// Of a member of the struct of weights: its name in checkpoints, which is empty where @F_prepare makes the array.
  std::optional<std::string> weight = {};

  bool isStrided() const { return !stride.empty(); }
  /// Whether C has the argument as a member of the struct of weights, in place of a parameter.
  bool isMember() const { return weight.has_value(); }
  bool isArray() const { return isa<RankedTensorType>(type); }
  Type getElementType() const { return getElementTypeOrSelf(type); }
  /// How implementations take the value: a scalar as it is, an array as a memref, with open strides where it has one,
  /// and an array of i4 as its bytes.
  Type getBufferType() const;
  /// Bytes of one element in memory; 1 of a pair of i4.
  int64_t getElementBytes() const;
};

/// A run-time condition on values.
struct ValueCheck {
  /// What is wrong; `{0}` stands for the value.
  std::string text;
  /// What a call that fails it answers.
  int32_t status = 0;
  /// Whether it is checked while the function works, so that outputs may have been written.
  bool isInside = false;
};

/// The C function of one func.func.
struct KernelSignature {
  std::string symbol;
  /// The MLIR function type as text.
  std::string typeText;
  std::vector<KernelValue> arguments;
  std::vector<KernelValue> results;
  std::vector<SizeParameter> sizes;
  /// Sizes of results that are no parameter's, as expressions over `sizes`. They are passed on.
  std::vector<SizeExpr> derivedSizes;
  /// What must be equal beyond what SizeParameter says, as such expressions.
  std::vector<std::pair<SizeExpr, SizeExpr>> equalities;
  /// (result, argument): the result's buffer may be exactly the argument's.
  std::vector<std::pair<unsigned, unsigned>> inPlace;
  std::vector<ValueCheck> checks;
  /// Whether kernels run on a GPU: arrays lie in its memory then, and not in the host's.
  bool isForDevice = false;
  /// The C parameter of the struct of weights, which stands in the place of its first member; empty where there is
  /// none.
  std::string weights;

  /// The type of that struct in C.
  std::string getWeightsType() const;
  std::string getWeightListName() const { return symbol + "_weight_list"; }
  /// How texts call an argument: a member by what leads to it.
  std::string describeArgument(const KernelValue &argument) const;
  bool mayShareBuffer(unsigned result, unsigned argument) const;
  /// One code for all sizes that must be equal: the size where only one is right, else that of their first parameter.
  int64_t getSharedSize(int64_t code) const;
  /// The derived size that the code stands for; null for other codes.
  SizeExpr getDerivedSize(int64_t code) const;
  /// The code of a derived size.
  int64_t getDerivedCode(unsigned index) const { return -1 - int64_t(sizes.size()) - int64_t(index); }
  /// The function that computes that size from all size parameters.
  std::string getDerivedSizeName(int64_t code) const {
    return symbol + ".size" + std::to_string(-1 - code - int64_t(sizes.size()));
  }
  /// An expression over size parameters with their names.
  std::string printSize(SizeExpr expression) const;
  /// What an equality is about, and what that must be: `x_dim0`, `equal to y_dim0 * 3`, `a multiple of 4` or `other
  /// than 0`.
  std::pair<SizeExpr, std::string> describeEquality(SizeExpr a, SizeExpr b) const;
  DictionaryAttr toAttribute(MLIRContext *context) const;
  static KernelSignature fromAttribute(DictionaryAttr attribute);
};

/// The C type of a scalar, or of an array's elements; empty where C has none. That of i4 holds two.
llvm::StringRef getCTypeName(Type type);

/// What the safetensors format calls a type that getCTypeName() knows.
llvm::StringRef getCheckpointTypeName(Type type);

/// Whether functions of this type can have a C interface; if not, emits an error that names the first type which
/// cannot.
LogicalResult verifyInterfaceTypes(func::FuncOp function);

/// Whether the sizes of all results follow from those of the arguments; if not, emits an error that names the first one
/// which does not. Of a function on tensors without calls.
LogicalResult verifyResultSizes(func::FuncOp function);

/// The signature of a function on tensors without calls; names carry `prefix`. `programTypes`: those of the arguments
/// in the program, where the function may take bytes instead (Nibbles.h). With `weightsStruct`, arguments that are
/// marked as weights, and those that @F_prepare makes, are members of one struct. Emits an error and fails if a
/// result's size does not follow from the arguments, if no sizes are right, if a name cannot be used, or if such a
/// member has sizes or a stride that are known at run time only.
FailureOr<KernelSignature> computeSignature(func::FuncOp function, ArrayRef<Type> programTypes, llvm::StringRef prefix,
                                            bool weightsStruct);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_SIGNATURE_H
