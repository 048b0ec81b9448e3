// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/StreamForm.h"

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/raise/Products.h"
#include "passes/raise/StreamTerms.h"

using namespace mlir;
using namespace mlir::resid;

//===------------------------------------------- reads ------------------------------------------------------------===//

namespace {
/// What stands before the one rounding at the end of an expression.
struct WideRoot {
  const ElementNode *node;
  Type arithmetic, stored;
};
} // namespace

static std::optional<WideRoot> widen(const ElementExpression &expression) {
  const ElementNode *root = expression.getRoot();
  Type arithmetic = getArithmeticType(root->type);
  bool isRounded = root->type != arithmetic && isa_and_present<arith::TruncFOp>(root->op);
  const ElementNode *wide = isRounded ? root->operands.front() : root;
  if (root->kind != ElementNode::Operator || wide->type != arithmetic)
    return std::nullopt;
  return WideRoot{wide, arithmetic, root->type};
}

/// The sum that is multiplied by a constant at the end, and the constant; else the node and 1.
static std::pair<const ElementNode *, double> splitScale(const ElementNode *node) {
  if (isa_and_present<arith::MulFOp>(node->op))
    for (unsigned i : {0, 1})
      if (const std::optional<APFloat> &scale = node->operands[i]->constant;
          scale && scale->isFinite() && isSum(node->operands[1 - i])) {
        bool losesInfo;
        APFloat wide = *scale;
        wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
        return {node->operands[1 - i], wide.convertToDouble()};
      }
  return {node, 1};
}

/// Whether streams are written, or read into, of elements of a type that the op allows.
static bool mayStore(Type stored, Value x) {
  Type type = getTensorType(x).getElementType();
  return stored == type || (stored.isF32() && isa<Float16Type, BFloat16Type>(type));
}

/// Whether a weight's type is allowed for these streams.
static bool mayWeigh(Value weights, Value x) {
  return !weights || !getTensorType(weights).getElementType().isF64() || getTensorType(x).getElementType().isF64();
}

/// Whether each of the terms is added as the op adds it: in order, and each product without a rounding of its own.
static bool isAddedExactly(const StreamTerm &term, unsigned number) {
  return number == 0 ? term.step == StreamTerm::First
                     : term.step == (term.factors.size() == 2 ? StreamTerm::Fused : StreamTerm::Added);
}

/// Takes the factor that is a part of `x` out of a term. The other one, if any, stays.
static std::optional<int64_t> takeStream(StreamTerm &term, Value x, unsigned rank) {
  for (unsigned i = 0; i < term.factors.size(); ++i)
    if (std::optional<int64_t> stream = getStream(term.factors[i], x, rank)) {
      term.factors.erase(term.factors.begin() + i);
      return stream;
    }
  return std::nullopt;
}

/// The streams that the terms are of, each once; empty where they are others. What multiplies them stays in the terms.
static SmallVector<int64_t> takeStreams(MutableArrayRef<StreamTerm> terms, Value x, unsigned rank) {
  SmallVector<int64_t> streams;
  for (StreamTerm &term : terms)
    if (std::optional<int64_t> stream = takeStream(term, x, rank); stream && !llvm::is_contained(streams, *stream))
      streams.push_back(*stream);
  return static_cast<int64_t>(streams.size()) == getTensorType(x).getDimSize(rank - 1) ? streams
                                                                                       : SmallVector<int64_t>();
}

std::optional<StreamReadForm> resid::matchStreamRead(const ElementExpression &expression, std::string &refusal) {
  std::optional<WideRoot> root = widen(expression);
  if (!root)
    return std::nullopt;
  unsigned rank = getTensorType(expression.getRoot()->whole).getRank();
  auto [sum, scale] = splitScale(root->node);
  SmallVector<StreamTerm> terms;
  if (!isSum(sum) || !readTerms(sum, root->arithmetic, terms))
    return std::nullopt;
  StreamReadForm form{findStreams(terms, rank), {}, scale};
  if (!form.x || !mayStore(root->stored, form.x))
    return std::nullopt;
  bool isWeighted = terms.front().factors.size() == 2;
  for (auto [number, term] : llvm::enumerate(terms)) {
    form.isExact &= isAddedExactly(term, number);
    if ((term.factors.size() == 2) != isWeighted)
      return std::nullopt;
  }
  SmallVector<int64_t> streams = takeStreams(terms, form.x, rank);
  if (streams.size() != terms.size())
    return std::nullopt;
  // The first sum has no order.
  if (!isWeighted && streams[0] > streams[1])
    std::swap(streams[0], streams[1]);
  form.isExact &= llvm::is_sorted(streams);
  WeightReader weights(rank, streams.size());
  for (auto [stream, term] : llvm::zip_equal(streams, terms))
    if (isWeighted && !weights.read(term.factors.front(), stream)) {
      refusal = "a weight is not that of its stream";
      return std::nullopt;
    }
  form.weights = weights.getResult();
  if (!mayWeigh(form.weights.tensor, form.x) || form.weights.tensor == form.x)
    return std::nullopt;
  return form;
}

//===------------------------------------------- writes -----------------------------------------------------------===//

namespace {
/// What is written into one stream: streams with their coefficients, which may be null, and a branch.
struct WrittenStream {
  SmallVector<std::pair<int64_t, const ElementNode *>> kept;
  std::optional<StreamTerm> branch;
  bool isExact = true;

  bool isIdentity() const { return kept.size() == 1 && !kept.front().second; }
};

/// Reads what is written into the streams, one after the other.
class WriteReader {
public:
  WriteReader(Value x, unsigned rank)
      : rank(rank), count(getTensorType(x).getDimSize(rank - 1)), weights(rank, count), mix(rank, count) {
    form.x = x;
  }

  /// Whether stream `number` is written as those before it. If not, `refusal` says why.
  bool read(ArrayRef<StreamTerm> terms, int64_t number, std::string &refusal);
  StreamWriteForm getResult();

private:
  std::optional<WrittenStream> sort(ArrayRef<StreamTerm> terms);
  bool readKept(const WrittenStream &written, int64_t number);
  bool readBranch(const StreamTerm &branch, int64_t number);

  unsigned rank;
  int64_t count;
  StreamWriteForm form;
  WeightReader weights, mix;
  /// Of stream 0. Its nodes are gone with their expression: only whether there are any counts.
  std::optional<WrittenStream> first;
};
} // namespace

/// Whether each step is that of the op: the branch is first, and products are fused, in ascending order of streams. A
/// stream that is kept as it is may stand before or after the branch.
static bool isWrittenExactly(ArrayRef<StreamTerm> terms, const WrittenStream &written) {
  if (written.isIdentity())
    return terms.back().step == StreamTerm::Added;
  bool isFused = llvm::all_of(llvm::enumerate(terms), [](auto entry) {
    return entry.value().step == (entry.index() == 0 ? StreamTerm::First : StreamTerm::Fused);
  });
  bool isBranchFirst = !written.branch || terms.front().factors == written.branch->factors;
  return isFused && isBranchFirst && llvm::is_sorted(written.kept, llvm::less_first());
}

std::optional<WrittenStream> WriteReader::sort(ArrayRef<StreamTerm> terms) {
  WrittenStream written;
  for (const StreamTerm &term : terms) {
    StreamTerm left = term;
    std::optional<int64_t> stream = takeStream(left, form.x, rank);
    if (stream)
      written.kept.push_back({*stream, left.factors.empty() ? nullptr : left.factors.front()});
    else if (written.branch)
      return std::nullopt;
    else
      written.branch = term;
  }
  written.isExact = isWrittenExactly(terms, written);
  bool isWhole = static_cast<int64_t>(written.kept.size()) == count;
  bool isWeighted = llvm::all_of(written.kept, [](auto &entry) { return entry.second != nullptr; });
  if ((written.kept.size() != 1 && !isWhole) || !(isWeighted || (written.isIdentity() && written.branch)))
    return std::nullopt;
  return written;
}

bool WriteReader::readKept(const WrittenStream &written, int64_t number) {
  SmallVector<bool> isKept(count, false);
  for (auto [stream, coefficient] : written.kept) {
    if (isKept[stream] || (written.kept.size() == 1 && stream != number))
      return false;
    isKept[stream] = true;
    SmallVector<int64_t, 2> streams = {stream};
    if (written.kept.size() != 1)
      streams.push_back(number);
    if (coefficient && !mix.read(coefficient, streams))
      return false;
  }
  return true;
}

bool WriteReader::readBranch(const StreamTerm &branch, int64_t number) {
  for (const ElementNode *factor : branch.factors) {
    const ElementNode *y = skipExtension(factor);
    if (!y->whole || y->type != getTensorType(form.x).getElementType() || (form.y && form.y != y->whole))
      continue;
    const ElementNode *other = branch.factors[factor == branch.factors.front() ? branch.factors.size() - 1 : 0];
    if (branch.factors.size() == 2 && !weights.read(other, number))
      continue;
    form.y = y->whole;
    return true;
  }
  return false;
}

bool WriteReader::read(ArrayRef<StreamTerm> terms, int64_t number, std::string &refusal) {
  std::optional<WrittenStream> written = sort(terms);
  if (!written) {
    refusal = "it does not write a branch, or a mix of all streams, into each stream";
    return false;
  }
  if (!first)
    first = written;
  form.isExact &= written->isExact;
  auto countFactors = [](const WrittenStream &stream) { return stream.branch ? stream.branch->factors.size() : 0; };
  if (written->kept.size() != first->kept.size() || written->isIdentity() != first->isIdentity() ||
      countFactors(*written) != countFactors(*first))
    refusal = "streams are not all written alike";
  else if (!readKept(*written, number))
    refusal = "a coefficient of the mix is not that of its streams";
  else if (written->branch && !readBranch(*written->branch, number))
    refusal = "a weight is not that of its stream, or the branch is not one for all of them";
  return refusal.empty();
}

StreamWriteForm WriteReader::getResult() {
  form.weights = weights.getResult();
  form.mix = mix.getResult();
  form.isDiagonal = form.mix && first->kept.size() == 1;
  return form;
}

/// The stream that a slice of all rows and features is put into.
static std::optional<int64_t> getWrittenStream(tensor::InsertSliceOp insert, Value whole) {
  unsigned streams = insert.getType().getRank() - 2;
  for (auto [dimension, size] : llvm::enumerate(insert.getMixedSizes())) {
    std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[dimension]);
    bool isWhole =
        dimension == streams ? getConstantIntValue(size) == 1 : offset == 0 && isSizeOf(size, whole, dimension);
    if (!offset || getConstantIntValue(insert.getMixedStrides()[dimension]) != 1 || !isWhole)
      return std::nullopt;
  }
  if (insert.getSourceType().getRank() + 1 != insert.getType().getRank())
    return std::nullopt;
  return getConstantIntValue(insert.getMixedOffsets()[streams]);
}

/// The tensors that are put together to streams, and the empty tensor that they are put into.
static SmallVector<Value> findWritten(tensor::InsertSliceOp last, tensor::EmptyOp &empty) {
  int64_t count = last.getType().getDimSize(last.getType().getRank() - 2);
  SmallVector<tensor::InsertSliceOp> inserts;
  for (auto insert = last; insert; insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>())
    inserts.push_back(insert);
  empty = inserts.back().getDest().getDefiningOp<tensor::EmptyOp>();
  if (!empty || static_cast<int64_t>(inserts.size()) != count)
    return {};
  SmallVector<Value> written(count);
  for (tensor::InsertSliceOp insert : inserts) {
    std::optional<int64_t> stream = getWrittenStream(insert, empty.getResult());
    if (!stream || written[*stream])
      return {};
    written[*stream] = insert.getSource();
  }
  return written;
}

/// Whether the tensor has the sizes of the streams.
static bool haveOneSize(tensor::EmptyOp empty, Value x) {
  SmallVector<OpFoldResult> sizes = empty.getMixedSizes();
  return getTensorType(x).getRank() == empty.getType().getRank() &&
         llvm::all_of(llvm::enumerate(sizes), [&](auto entry) { return isSizeOf(entry.value(), x, entry.index()); });
}

std::optional<StreamWriteForm> resid::matchStreamWrite(tensor::InsertSliceOp last, std::string &refusal) {
  RankedTensorType type = last.getType();
  int64_t count = type.getRank() < 2 ? 0 : type.getDimSize(type.getRank() - 2);
  if (count < 2 || count > kMaxStreams || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  tensor::EmptyOp empty;
  SmallVector<Value> written = findWritten(last, empty);
  std::optional<WriteReader> reader;
  std::optional<StreamWriteForm> form;
  Value x;
  for (auto [number, value] : llvm::enumerate(written)) {
    ElementExpression expression(value);
    std::optional<WideRoot> root = widen(expression);
    SmallVector<StreamTerm> terms;
    if (!root || !readTerms(root->node, root->arithmetic, terms))
      return std::nullopt;
    if (!reader) {
      x = findStreams(terms, type.getRank() - 1);
      if (!x || !mayStore(root->stored, x) || getTensorType(x).getDimSize(type.getRank() - 2) != count)
        return std::nullopt;
      reader.emplace(x, type.getRank() - 1);
    }
    if (!reader->read(terms, number, refusal))
      return std::nullopt;
    form = reader->getResult();
  }
  if (form && !haveOneSize(empty, x))
    refusal = "its size is not known to be that of the streams";
  bool isGood = form && refusal.empty() && mayWeigh(form->weights.tensor, x) && mayWeigh(form->mix.tensor, x);
  return isGood ? form : std::nullopt;
}

//===------------------------------------------- writes of all streams at once ------------------------------------===//

/// Whether places along rows, which the expressions begin with, are those of the root.
static bool beginsWithRows(ArrayRef<AffineExpr> at, unsigned rows) {
  return at.size() >= rows && llvm::all_of(llvm::seq(rows), [&](unsigned i) {
           auto dim = dyn_cast<AffineDimExpr>(at[i]);
           return dim && dim.getPosition() == i;
         });
}

/// The weights that a node is one of, where the root has rows, streams and features.
static StreamWeights readWeights(const ElementNode *node, ArrayRef<int64_t> root) {
  node = skipExtension(node);
  unsigned rows = root.size() - 2;
  if (!node->tensor || node->constant)
    return {};
  ArrayRef<AffineExpr> at = node->map.getResults();
  ArrayRef<int64_t> shape = getTensorType(node->tensor).getShape();
  if (beginsWithRows(at, rows)) {
    at = at.drop_front(rows);
    shape = shape.drop_front(rows);
  }
  MLIRContext *context = node->tensor.getContext();
  bool hasLast = at.size() == 2;
  bool isLastGood = !hasLast || at.back() == getAffineDimExpr(rows + 1, context) ||
                    (shape.back() == 1 && at.back() == getAffineConstantExpr(0, context));
  bool isGood = (at.size() == 1 || hasLast) && isLastGood && shape.front() == root[rows] &&
                at.front() == getAffineDimExpr(rows, context);
  return isGood ? StreamWeights{node->tensor, hasLast} : StreamWeights();
}

/// The tensor of rows that a node is an element of, the same for each stream.
static Value readRow(const ElementNode *node, Value x) {
  node = skipExtension(node);
  unsigned rows = getTensorType(x).getRank() - 2;
  bool isRow = node->tensor && !node->constant && node->type == getTensorType(x).getElementType() &&
               node->map.getNumResults() == rows + 1 && beginsWithRows(node->map.getResults(), rows) &&
               node->map.getResults().back() == getAffineDimExpr(rows + 1, node->tensor.getContext());
  return isRow ? node->tensor : Value();
}

/// Whether there is a weight for each element.
static bool areOfElements(const StreamWeights &weights, Value x) {
  ArrayRef<int64_t> shape = getTensorType(weights.tensor).getShape();
  return static_cast<int64_t>(shape.size()) == getTensorType(x).getRank() && shape.back() != 1;
}

/// Reads the branch and its weights. A row alone is also what many other programs add to a tensor, and so is one that
/// is multiplied by as many numbers as rotary positions are.
static bool readWeightedBranch(const ElementNode *node, Type arithmetic, StreamWriteForm &form) {
  if (!isa_and_present<arith::MulFOp>(node->op) || node->type != arithmetic)
    return false;
  for (unsigned i : {0, 1}) {
    form.weights = readWeights(node->operands[i], getTensorType(form.x).getShape());
    form.y = readRow(node->operands[1 - i], form.x);
    if (form.weights && form.y)
      return !areOfElements(form.weights, form.x) && mayWeigh(form.weights.tensor, form.x);
  }
  return false;
}

static bool areStreams(Value x, RankedTensorType type) {
  RankedTensorType streams = x ? dyn_cast<RankedTensorType>(x.getType()) : RankedTensorType();
  int64_t rank = type.getRank(), count = rank < 3 ? 0 : type.getDimSize(rank - 2);
  return streams && streams.getShape() == type.getShape() && count > 1 && count <= kMaxStreams &&
         mayStore(type.getElementType(), x);
}

std::optional<StreamWriteForm> resid::matchStreamWrite(const ElementExpression &expression) {
  std::optional<WideRoot> root = widen(expression);
  if (!root || !isSum(root->node))
    return std::nullopt;
  auto type = getTensorType(expression.getRoot()->whole);
  bool isDiagonal = isa<math::FmaOp>(root->node->op);
  for (unsigned i : {0, 1}) {
    StreamWriteForm form;
    form.x = skipExtension(root->node->operands[i])->whole;
    const ElementNode *other = root->node->operands[1 - i], *branch = isDiagonal ? root->node->operands[2] : other;
    if (!areStreams(form.x, type) || !readWeightedBranch(branch, root->arithmetic, form))
      continue;
    form.isDiagonal = isDiagonal;
    if (isDiagonal)
      form.mix = readWeights(other, type.getShape());
    bool isMixed = form.mix && !readRow(other, form.x) && mayWeigh(form.mix.tensor, form.x) &&
                   (!form.mix.hasLast || getTensorType(form.mix.tensor).getShape().back() == 1);
    if (!isDiagonal || isMixed)
      return form;
  }
  return std::nullopt;
}

/// The mix that a factor of a product is: from stream i, which is summed over, to stream j. Null if it is none.
static StreamWeights readMix(Contraction &product, OpOperand *factor, unsigned summed) {
  ArrayRef<AffineExpr> result = product.getMap(product.init).getResults(), at = product.getMap(factor).getResults();
  ArrayRef<AffineExpr> rows = result.drop_back(2);
  if (at.size() == result.size() && at.take_front(rows.size()) == rows)
    at = at.drop_front(rows.size());
  AffineExpr from = getAffineDimExpr(summed, product.op.getContext()), to = result[rows.size()];
  if (at.size() != 2 || !llvm::is_contained(at, from) || !llvm::is_contained(at, to))
    return {};
  return StreamWeights{factor->get(), false, at.front() == to};
}

std::optional<StreamWriteForm> resid::matchStreamMix(linalg::LinalgOp op) {
  std::optional<Contraction> product = getProduct(op->getResult(0));
  auto type = getTensorType(op->getResult(0));
  if (!product || type.getElementType() != product->arithmetic)
    return std::nullopt;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  SmallVector<AffineExpr> streams(product->getMap(product->init).getResults());
  if (streams.size() < 3)
    return std::nullopt;
  streams[streams.size() - 2] = getAffineDimExpr(summed.front(), op.getContext());
  for (OpOperand *x : {product->a, product->b}) {
    StreamWriteForm form;
    form.x = x->get();
    form.mix = readMix(*product, x == product->a ? product->b : product->a, summed.front());
    if (!form.mix || product->getMap(x).getResults() != ArrayRef(streams) || !areStreams(form.x, type) ||
        !mayWeigh(form.mix.tensor, form.x))
      continue;
    ElementExpression start(product->init->get());
    if (readWeightedBranch(start.getRoot(), product->arithmetic, form))
      return form;
  }
  return std::nullopt;
}

//===------------------------------------------- the ops ----------------------------------------------------------===//

/// Weights with a last dimension of 1 where they have none.
static Value align(OpBuilder &builder, Location location, const StreamWeights &weights) {
  if (!weights || weights.hasLast)
    return weights.tensor;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape(getTensorType(weights.tensor).getShape());
  for (size_t i = 0; i < shape.size(); ++i)
    groups.push_back({static_cast<int64_t>(i)});
  groups.back().push_back(shape.size());
  shape.push_back(1);
  return tensor::ExpandShapeOp::create(builder, location, getTensorType(weights.tensor).clone(shape), weights.tensor,
                                       groups);
}

Value resid::buildStreamRead(OpBuilder &builder, Location location, const StreamReadForm &form, Type type) {
  return ReadOp::create(builder, location, type, form.x, align(builder, location, form.weights),
                        builder.getF64FloatAttr(form.scale));
}

Value resid::buildStreamWrite(OpBuilder &builder, Location location, const StreamWriteForm &form, Type type) {
  Value mix = form.mix && !form.isDiagonal ? form.mix.tensor : align(builder, location, form.mix);
  return WriteOp::create(builder, location, type, form.x, form.y, align(builder, location, form.weights), mix,
                         form.mix.isTransposed);
}
