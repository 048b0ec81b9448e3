// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NormKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/checks/StreamChecks.h"
#include "passes/stream/Stacks.h"

using namespace mlir;
using namespace mlir::resid;

static int64_t getStreamCount(Value streams) { return cast<RankedTensorType>(streams.getType()).getShape().end()[-2]; }

//===----------------------------------------------------------------------===//
// Streams without a head
//===----------------------------------------------------------------------===//

/// One layer of a Transformer as a function of its own, whose caller has the head: up to three sub-layers from an
/// argument to the result.
static bool isLayer(WriteOp last, const ExitReaders &readers) {
  unsigned count = 1;
  Value above = last.getX();
  for (; auto write = above.getDefiningOp<WriteOp>(); above = write.getX())
    ++count;
  auto argument = dyn_cast<BlockArgument>(above);
  return count <= kMostSubLayersOfLayer && readers.isReturnedOnly && argument &&
         isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

static void checkHead(WriteOp last) {
  int64_t count = getStreamCount(last.getResult());
  ExitReaders readers = findExitReaders(last.getResult());
  if (count == 1 || readers.isHandled || !readers.raw || isLayer(last, readers))
    return;
  InFlightDiagnostic warning = last.emitWarning()
                               << "a stack of sub-layers on " << count << " streams ends here without a head";
  warning.attachNote(readers.raw->getLoc()) << "the streams leave the stack as they are here";
  warning.attachNote() << "mend: make one row of the streams by resid.read, before the final norm";
}

//===----------------------------------------------------------------------===//
// A norm of each stream
//===----------------------------------------------------------------------===//

/// Coefficients may be computed from a norm of the streams, and a norm with a gamma for each stream is itself part of a
/// read. Any other one that goes on as the streams was meant for one stream.
static void checkNormOfStreams(Operation *norm) {
  std::optional<NormParts> parts = getNormParts(norm);
  auto write = parts ? parts->x.getDefiningOp<WriteOp>() : WriteOp();
  if (!write || parts->hasWiderGamma() || getStreamCount(parts->x) == 1)
    return;
  bool goesOn = llvm::any_of(getReaders(norm->getResult(0)), [](OpOperand *reader) {
    return isa<ReadOp, WriteOp>(reader->getOwner()) && reader->getOperandNumber() == 0;
  });
  if (!goesOn && !findExitReaders(norm->getResult(0)).raw)
    return;
  InFlightDiagnostic warning = emitWarning(norm->getLoc())
                               << "this norm normalises each of " << getStreamCount(parts->x)
                               << " residual streams by itself, which does not commute with reading one row of them";
  warning.attachNote(write.getLoc()) << "the streams are written here";
  warning.attachNote() << "mend: read a row first, and normalise that";
}

//===----------------------------------------------------------------------===//
// A mix that loses a stream
//===----------------------------------------------------------------------===//

/// The rank of a matrix of n rows, by elimination with the largest pivot. What is smaller than 1e-12 of the largest
/// element counts as 0.
static int64_t getRank(std::vector<double> matrix, int64_t n) {
  double largest = 0.0;
  for (double element : matrix)
    largest = std::max(largest, std::fabs(element));
  int64_t rank = 0;
  for (int64_t column = 0; column != n; ++column) {
    int64_t pivot = rank;
    for (int64_t row = rank; row != n; ++row)
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column]))
        pivot = row;
    if (pivot == n || std::fabs(matrix[pivot * n + column]) <= 1e-12 * largest)
      continue;
    std::swap_ranges(&matrix[pivot * n], &matrix[pivot * n] + n, &matrix[rank * n]);
    for (int64_t row = rank + 1; row != n; ++row) {
      double factor = matrix[row * n + column] / matrix[rank * n + column];
      for (int64_t k = column; k != n; ++k)
        matrix[row * n + k] -= factor * matrix[rank * n + k];
    }
    ++rank;
  }
  return rank;
}

static void checkMix(WriteOp write) {
  int64_t n = getStreamCount(write.getX());
  DenseFPElementsAttr elements;
  if (n == 1 || !write.getMix() || !matchPattern(write.getMix(), m_Constant(&elements)))
    return;
  int64_t columns = write.getMix().getType().getShape().back();
  // A mix for each row is judged by the first one.
  if (elements.getNumElements() < n * columns)
    return;
  std::vector<double> matrix(n * n, 0.0);
  for (auto [place, element] : llvm::enumerate(llvm::make_range(elements.begin(), elements.begin() + n * columns))) {
    int64_t row = static_cast<int64_t>(place) / columns;
    matrix[row * n + (columns == n ? static_cast<int64_t>(place) % n : row)] = element.convertToDouble();
  }
  int64_t rank = getRank(matrix, n);
  if (rank == n)
    return;
  InFlightDiagnostic warning = write.emitWarning() << "the constant mix of " << n << " streams is singular: after it, "
                                                   << "only " << rank << " of them differ from sums of the others";
  warning.attachNote() << "mend: begin with a mix that can be undone, the identity for example, or leave it out";
}

//===----------------------------------------------------------------------===//
// Coefficients that never learn
//===----------------------------------------------------------------------===//

/// Whether every element is the constant 0, of a scalar, a tensor, or a tensor filled with it.
static bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

/// Whether `use` multiplies its value by 0, in an op on tensors or in the body of a linalg.generic.
static bool isMultipliedByZero(OpOperand &use) {
  Operation *op = use.getOwner();
  auto hasZeroFactor = [](Operation *product, Value value, llvm::function_ref<Value(Value)> resolve) {
    return llvm::any_of(product->getOperands(),
                        [&](Value factor) { return factor != value && isZero(resolve(factor)); });
  };
  if (isa<arith::MulFOp, linalg::MulOp>(op))
    return hasZeroFactor(op, use.get(), [](Value value) { return value; });
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return false;
  Value inside = generic.getMatchingBlockArgument(&use);
  auto resolve = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOperand = argument && argument.getOwner() == generic.getBody();
    return isOperand ? generic->getOperand(argument.getArgNumber()) : value;
  };
  return llvm::any_of(inside.getUsers(), [&](Operation *user) {
    return isa<arith::MulFOp>(user) && hasZeroFactor(user, inside, resolve);
  });
}

/// Whether `value`, or a part of it, is multiplied by 0.
static bool isScaledByZero(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    bool isPart = isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
    return isMultipliedByZero(use) || (isPart && use.getOperandNumber() == 0 && isScaledByZero(op->getResult(0)));
  });
}

static void checkProject(ProjectOp project) {
  if (!isZero(project.getWeight()) || !isScaledByZero(project.getZ()))
    return;
  InFlightDiagnostic warning = project.emitWarning() << "these coefficients never learn: the weight is 0 and so is the "
                                                        "scale of its projection, so neither gets a gradient";
  warning.attachNote() << "mend: begin with a random weight and scale 0, or with weight 0 and scale 1";
}

void resid::checkConnections(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto write = dyn_cast<WriteOp>(op)) {
      checkHead(write);
      checkMix(write);
    } else if (auto project = dyn_cast<ProjectOp>(op)) {
      checkProject(project);
    } else {
      checkNormOfStreams(op);
    }
  });
}
