// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/weights/WeightFormula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

static RankedTensorType getTensorType(const WeightFactor &factor) {
  return cast<RankedTensorType>(factor.weight.getType());
}

/// The indices of the term that are summed over, in order; those below `rank` otherwise.
static SmallVector<int64_t> getIndices(const WeightTerm &term, int64_t rank, bool summed) {
  SmallVector<int64_t> indices;
  for (const WeightFactor &factor : term.factors)
    for (int64_t index : factor.indices)
      if ((index >= rank) == summed && !llvm::is_contained(indices, index))
        indices.push_back(index);
  llvm::sort(indices);
  return indices;
}

/// A factor with an axis that `index` runs along, and that axis.
static std::pair<const WeightFactor *, int64_t> findAxis(ArrayRef<WeightTerm> terms, int64_t index) {
  for (const WeightTerm &term : terms)
    for (const WeightFactor &factor : term.factors)
      for (auto [axis, other] : llvm::enumerate(factor.indices))
        if (other == index)
          return {&factor, axis};
  llvm_unreachable("an index that no factor has");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

DenseFPElementsAttr resid::getConstantWeight(Value value) {
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return nullptr;
  return elements;
}

namespace {
/// A factor as numbers. Its element at some indices is values[Σ strides[i]·indices[i]].
struct ConstantFactor {
  std::vector<double> values;
  SmallVector<int64_t> strides;
  bool onePlus;
};

/// The numbers of one term, for one run through all indices.
struct ConstantTerm {
  SmallVector<ConstantFactor> factors;
  SmallVector<int64_t> sizes;
  double scale;

  /// Σ Π factors over the indices from `from` on, at `indices` before it.
  double sum(int64_t from, SmallVectorImpl<int64_t> &indices) const {
    if (from == static_cast<int64_t>(sizes.size()))
      return product(indices);
    double total = 0.0;
    for (indices[from] = 0; indices[from] < sizes[from]; ++indices[from])
      total += sum(from + 1, indices);
    return total;
  }

  double product(ArrayRef<int64_t> indices) const {
    double result = 1.0;
    for (const ConstantFactor &factor : factors) {
      int64_t position = 0;
      for (auto [stride, index] : llvm::zip_equal(factor.strides, indices))
        position += stride * index;
      result *= factor.onePlus ? 1.0 + factor.values[position] : factor.values[position];
    }
    return result;
  }
};
} // namespace

static ConstantFactor readFactor(const WeightFactor &factor, DenseFPElementsAttr elements, int64_t indexCount) {
  ConstantFactor result{{}, SmallVector<int64_t>(indexCount, 0), factor.onePlus};
  for (const APFloat &value : elements.getValues<APFloat>())
    result.values.push_back(value.convertToDouble());
  int64_t stride = 1;
  for (auto [index, size] : llvm::reverse(llvm::zip_equal(factor.indices, getTensorType(factor).getShape()))) {
    result.strides[index] += stride;
    stride *= size;
  }
  return result;
}

/// The term as numbers; its indices are the result's axes, then those that are summed over, all below `sizes`' end.
static ConstantTerm readTerm(const WeightTerm &term, ArrayRef<int64_t> resultSizes) {
  int64_t rank = resultSizes.size();
  SmallVector<int64_t> summed = getIndices(term, rank, /*summed=*/true);
  ConstantTerm result{{}, llvm::to_vector(resultSizes), term.scale};
  if (!summed.empty())
    result.sizes.resize(summed.back() + 1, 1);
  for (int64_t index : summed) {
    auto [factor, axis] = findAxis(term, index);
    result.sizes[index] = getTensorType(*factor).getDimSize(axis);
    if (term.mean)
      result.scale /= result.sizes[index];
  }
  for (const WeightFactor &factor : term.factors)
    result.factors.push_back(readFactor(factor, getConstantWeight(factor.weight), result.sizes.size()));
  return result;
}

static APFloat toElement(double value, FloatType type) {
  APFloat element(value);
  bool losesInfo;
  element.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return element;
}

DenseFPElementsAttr resid::foldFormula(const WeightFormula &formula) {
  for (const WeightTerm &term : formula.terms)
    for (const WeightFactor &factor : term.factors)
      if (!getConstantWeight(factor.weight))
        return nullptr;
  SmallVector<int64_t> sizes;
  for (int64_t index = 0; index < formula.rank; ++index) {
    auto [factor, axis] = findAxis(formula.terms, index);
    sizes.push_back(getTensorType(*factor).getDimSize(axis));
  }
  SmallVector<ConstantTerm> terms;
  for (const WeightTerm &term : formula.terms)
    terms.push_back(readTerm(term, sizes));
  SmallVector<APFloat> elements;
  int64_t count = ShapedType::getNumElements(sizes);
  for (int64_t position = 0; position < count; ++position) {
    double value = 0.0;
    for (const ConstantTerm &term : terms) {
      SmallVector<int64_t> indices(term.sizes.size(), 0);
      for (int64_t axis = formula.rank - 1, rest = position; axis >= 0; rest /= sizes[axis--])
        indices[axis] = rest % sizes[axis];
      value += term.scale * term.sum(formula.rank, indices);
    }
    elements.push_back(toElement(value, formula.elementType));
  }
  return cast<DenseFPElementsAttr>(DenseElementsAttr::get(RankedTensorType::get(sizes, formula.elementType), elements));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// Writes the ops of one formula.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, const WeightFormula &formula)
      : builder(builder), loc(loc), formula(formula), arithmetic(builder.getF32Type()) {
    for (const WeightTerm &term : formula.terms)
      for (const WeightFactor &factor : term.factors)
        if (getTensorType(factor).getElementType().isF64())
          arithmetic = builder.getF64Type();
    if (formula.elementType.isF64())
      arithmetic = builder.getF64Type();
  }

  Value run() {
    SmallVector<WeightTerm> terms;
    for (const WeightTerm &term : formula.terms)
      terms.push_back(reduce(term));
    // A lone sum over the last axes is the result itself.
    bool isResult = terms.size() == 1 && terms.front().scale == 1.0 && arithmetic == formula.elementType &&
                    !getIndices(formula.terms.front(), formula.rank, /*summed=*/true).empty();
    return isResult ? terms.front().factors.front().weight : combine(terms);
  }

private:
  /// A term whose sum, if it has one, is a factor that has been computed, and whose mean is part of it.
  WeightTerm reduce(const WeightTerm &term);
  /// The sum of terms without sums, rounded to the element type.
  Value combine(ArrayRef<WeightTerm> terms);
  /// The tensor.empty with one axis per index.
  Value createEmpty(ArrayRef<WeightTerm> terms, ArrayRef<int64_t> indices, Type elementType);
  /// Π factors at one place; `elements` are theirs.
  Value multiply(OpBuilder &body, const WeightTerm &term, ValueRange elements);
  /// How many elements a mean is over.
  Value countElements(const WeightTerm &term, ArrayRef<int64_t> summed);

  Value constant(OpBuilder &at, double value) {
    return arith::ConstantOp::create(at, loc, at.getFloatAttr(arithmetic, value));
  }
  AffineMap getMap(ArrayRef<int64_t> indices, ArrayRef<int64_t> loops) {
    SmallVector<AffineExpr> expressions;
    for (int64_t index : indices)
      expressions.push_back(builder.getAffineDimExpr(llvm::find(loops, index) - loops.begin()));
    return AffineMap::get(loops.size(), 0, expressions, builder.getContext());
  }

  OpBuilder &builder;
  Location loc;
  const WeightFormula &formula;
  FloatType arithmetic;
};
} // namespace

Value Emitter::createEmpty(ArrayRef<WeightTerm> terms, ArrayRef<int64_t> indices, Type elementType) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t index : indices) {
    auto [factor, axis] = findAxis(terms, index);
    sizes.push_back(tensor::getMixedSize(builder, loc, factor->weight, axis));
  }
  return tensor::EmptyOp::create(builder, loc, sizes, elementType);
}

Value Emitter::multiply(OpBuilder &body, const WeightTerm &term, ValueRange elements) {
  Value product;
  for (auto [factor, element] : llvm::zip_equal(term.factors, elements)) {
    Value value = element;
    if (value.getType() != arithmetic)
      value = arith::ExtFOp::create(body, loc, arithmetic, value);
    if (factor.onePlus)
      value = arith::AddFOp::create(body, loc, constant(body, 1.0), value);
    product = product ? arith::MulFOp::create(body, loc, product, value) : value;
  }
  return product;
}

Value Emitter::countElements(const WeightTerm &term, ArrayRef<int64_t> summed) {
  Value count = constant(builder, 1.0);
  for (int64_t index : summed) {
    auto [factor, axis] = findAxis(term, index);
    Value size = tensor::DimOp::create(builder, loc, factor->weight, axis);
    size = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
    size = arith::SIToFPOp::create(builder, loc, arithmetic, size);
    count = arith::MulFOp::create(builder, loc, count, size);
  }
  return count;
}

WeightTerm Emitter::reduce(const WeightTerm &term) {
  SmallVector<int64_t> kept = getIndices(term, formula.rank, /*summed=*/false);
  SmallVector<int64_t> summed = getIndices(term, formula.rank, /*summed=*/true);
  if (summed.empty())
    return term;
  SmallVector<int64_t> loops = kept;
  llvm::append_range(loops, summed);
  SmallVector<utils::IteratorType> iterators(kept.size(), utils::IteratorType::parallel);
  iterators.append(summed.size(), utils::IteratorType::reduction);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const WeightFactor &factor : term.factors) {
    inputs.push_back(factor.weight);
    maps.push_back(getMap(factor.indices, loops));
  }
  maps.push_back(getMap(kept, loops));
  Value empty = createEmpty(term, kept, arithmetic);
  Value zeros = linalg::FillOp::create(builder, loc, constant(builder, 0.0), empty).getResult(0);
  Value divisor = term.mean ? countElements(term, summed) : Value();
  auto sum = linalg::GenericOp::create(builder, loc, zeros.getType(), inputs, zeros, maps, iterators,
                                       [&](OpBuilder &body, Location, ValueRange elements) {
                                         Value product = multiply(body, term, elements.drop_back());
                                         if (divisor)
                                           product = arith::DivFOp::create(body, loc, product, divisor);
                                         Value next = arith::AddFOp::create(body, loc, elements.back(), product);
                                         linalg::YieldOp::create(body, loc, next);
                                       });
  return {{{sum.getResult(0), kept}}, term.scale};
}

Value Emitter::combine(ArrayRef<WeightTerm> terms) {
  SmallVector<int64_t> loops = llvm::to_vector(llvm::seq<int64_t>(0, formula.rank));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const WeightTerm &term : terms)
    for (const WeightFactor &factor : term.factors) {
      inputs.push_back(factor.weight);
      maps.push_back(getMap(factor.indices, loops));
    }
  maps.push_back(getMap(loops, loops));
  Value empty = createEmpty(formula.terms, loops, formula.elementType);
  SmallVector<utils::IteratorType> iterators(formula.rank, utils::IteratorType::parallel);
  auto addTerms = [&](OpBuilder &body, Location, ValueRange elements) {
    Value total;
    for (const WeightTerm &term : terms) {
      Value value = multiply(body, term, elements.take_front(term.factors.size()));
      elements = elements.drop_front(term.factors.size());
      if (term.scale != 1.0)
        value = arith::MulFOp::create(body, loc, value, constant(body, term.scale));
      total = total ? arith::AddFOp::create(body, loc, total, value) : value;
    }
    if (total.getType() != formula.elementType)
      total = arith::TruncFOp::create(body, loc, formula.elementType, total);
    linalg::YieldOp::create(body, loc, total);
  };
  return linalg::GenericOp::create(builder, loc, empty.getType(), inputs, empty, maps, iterators, addTerms)
      .getResult(0);
}

Value resid::emitFormula(OpBuilder &builder, Location loc, const WeightFormula &formula) {
  return Emitter(builder, loc, formula).run();
}
