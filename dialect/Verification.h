// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks that verifiers of several families share. Each reports on the op what was expected and what was found;
// which numbered constraint it is stands beside the call. Type constraints (C1 of every op) stand in ResidBase.td.

#ifndef RESID_DIALECT_VERIFICATION_H
#define RESID_DIALECT_VERIFICATION_H

#include "dialect/DropoutScheme.h"
#include "dialect/NormKinds.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::resid {

/// The shorter of two spellings that give the value back.
std::string printFloat(const llvm::APFloat &value);

/// Whether two sizes may be the same at run time: they are equal, or one of them is dynamic.
bool agree(int64_t first, int64_t second);

/// f has the type of x.
LogicalResult verifyBranchType(Operation *op, RankedTensorType x, RankedTensorType f);

/// The sum has the shape of x and its element type or, for f16 and bf16, f32.
LogicalResult verifySumType(Operation *op, RankedTensorType x, RankedTensorType sum, StringRef name);

/// The normalised value has the shape of x and its element type or a narrower one.
LogicalResult verifyNormalizedType(Operation *op, RankedTensorType x, RankedTensorType normalized, StringRef name);

/// A parameter is of f64 only where x is. An absent one passes, here and below.
LogicalResult verifyParameterType(Operation *op, RankedTensorType x, Value parameter, StringRef name);

/// A parameter of rank k agrees with the last k dimensions of x, size by size: equal, or one of them dynamic.
LogicalResult verifyTrailingShape(Operation *op, RankedTensorType x, Value parameter, StringRef name);

/// As verifyTrailingShape, of the given rank.
LogicalResult verifyParameterShape(Operation *op, RankedTensorType x, Value parameter, int64_t rank, StringRef name);

/// As verifyTrailingShape, but a static 1 broadcasts.
LogicalResult verifyGateShape(Operation *op, RankedTensorType x, Value gate, StringRef name = "gate");

/// x has dimensions of streams and of features, and as many streams as an op may have.
LogicalResult verifyStreams(Operation *op, RankedTensorType x, StringRef name);

/// Weights broadcast to the streams x, with one for each of them at least.
LogicalResult verifyStreamWeights(Operation *op, RankedTensorType x, Value weights);

/// A mix of the streams x is n by n, or n by 1 for a diagonal one, for all rows or for each. It has a type that goes
/// with x, and only a whole one is transposed.
LogicalResult verifyStreamMix(Operation *op, RankedTensorType x, Value mix, bool isTransposed);

/// A scale is finite in the arithmetic type.
LogicalResult verifyScale(Operation *op, Type elementType, const llvm::APFloat &scale, StringRef name);

/// A number is finite and greater than 0 in the arithmetic type.
LogicalResult verifyPositive(Operation *op, Type elementType, const llvm::APFloat &number, StringRef name);

/// epsilon is finite and not negative in the arithmetic type, and zero there only if it is zero.
LogicalResult verifyEpsilon(Operation *op, Type elementType, const llvm::APFloat &epsilon);

/// p is in [0, 1].
LogicalResult verifyProbability(Operation *op, const llvm::APFloat &p);

/// site is in [0, 2^32).
LogicalResult verifySite(Operation *op, int64_t site);

/// Row and site of the origin are given together, its column and the extent only beside them, and the extent as a
/// whole. Constants among them are in range, beside so many columns of a row.
LogicalResult verifyOrigin(Operation *op, const DropoutOrigin &origin, int64_t columns);

/// The static sizes fit the 32-bit counters of the generator: 2^32 rows, and 2^32 groups of eight columns, which the
/// last size counts.
LogicalResult verifyRandomPositions(Operation *op, ArrayRef<int64_t> shape);

/// The dropout clause of an op, of which the generic form may state a part.
struct DropoutClause {
  Value seed, step;
  DropoutOrigin origin;
  std::optional<llvm::APFloat> p;
  std::optional<uint64_t> site;
};

/// The clause is there as a whole or not at all, an origin stands in it only, and it holds to all of the above.
LogicalResult verifyDropoutClause(Operation *op, const DropoutClause &clause, ArrayRef<int64_t> shape);

/// A part of a norm, named by `name`, is there exactly where its kind has one.
LogicalResult verifyPresence(Operation *op, NormKind kind, StringRef name, bool isExpected, bool isPresent);

/// Between 1 and all dimensions of x are normalised.
LogicalResult verifyNormalizedRank(Operation *op, RankedTensorType x, int64_t normalizedRank);

/// norm_rank is 1, as where it is not written, or the rank given by gamma.
LogicalResult verifyNormRankAttribute(Operation *op, int64_t normRank, int64_t normalizedRank);

/// No more dimensions are normalised than gamma has; an absent one passes.
LogicalResult verifyWiderGamma(Operation *op, Value gamma, int64_t normalizedRank);

/// beta is given only with gamma, has its rank, and agrees with the last dimensions of x.
LogicalResult verifyBeta(Operation *op, RankedTensorType x, Value gamma, Value beta);

/// The attributes that say how gamma is applied are given only with gamma.
LogicalResult verifyGammaAttributes(Operation *op, Value gamma, bool zeroCenteredGamma, bool narrowAffine);

/// There is one group or more, and their number divides the last dimension, whether x or a parameter tells its size.
LogicalResult verifyGroups(Operation *op, RankedTensorType x, int64_t groups, ValueRange parameters);

/// There are no statistics of the norm of a value of type `x`, or as many as its kind has, each of the statistics'
/// type. Requires a valid rank.
LogicalResult verifyStatistics(Operation *op, RankedTensorType x, const NormParts &norm, TypeRange statistics);

} // namespace mlir::resid

#endif // RESID_DIALECT_VERIFICATION_H
