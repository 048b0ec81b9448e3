// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives linear layers integers of 8 or 4 bits: their weights once, in @F_prepare or in a file, and with w8a8 their rows
// where they are multiplied. Also finds what whoever writes that file looks at: the rows of each layer, and the norm
// before it.

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "passes/stream/NormSites.h"
#include "passes/weights/Prepare.h"

namespace mlir::resid {
#define GEN_PASS_DEF_QUANTIZELINEAR
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

namespace {
/// What becomes integers, as the option `scheme` says.
struct Scheme {
  /// Of the integers of a weight.
  unsigned bits = 8;
  /// How many neighbours of a weight's row share a scale; 0 for all of them.
  int64_t group = 0;
  /// Whether rows become integers, too.
  bool hasRows = false;

  /// The scheme of such a name, `w8a8`, `w8`, `w8gN`, `w4` or `w4gN`, where N is even; nothing for another one.
  static std::optional<Scheme> parse(StringRef name);
  /// How many input features of `weight` share a scale.
  int64_t getGroup(RankedTensorType weight) const { return group ? group : weight.getDimSize(1); }
  RankedTensorType getIntegers(RankedTensorType weight) const {
    return RankedTensorType::get(weight.getShape(), IntegerType::get(weight.getContext(), bits));
  }
  RankedTensorType getScales(RankedTensorType weight) const;
};
} // namespace

std::optional<Scheme> Scheme::parse(StringRef name) {
  if (name == "w8a8")
    return Scheme{8, 0, true};
  Scheme scheme;
  if (!name.consume_front("w") || name.consumeInteger(10, scheme.bits) || (scheme.bits != 8 && scheme.bits != 4))
    return std::nullopt;
  if (name.consume_front("g") && (name.consumeInteger(10, scheme.group) || scheme.group < 2 || scheme.group % 2))
    return std::nullopt;
  return name.empty() ? std::optional(scheme) : std::nullopt;
}

RankedTensorType Scheme::getScales(RankedTensorType weight) const {
  SmallVector<int64_t> shape = {weight.getDimSize(0)};
  if (!hasRows)
    shape.push_back(weight.getDimSize(1) / getGroup(weight));
  return RankedTensorType::get(shape, Float32Type::get(weight.getContext()));
}

/// The type of a layer's weight where it is `[out, in]`, as integers are.
static RankedTensorType getOutIn(LinearOp linear) {
  RankedTensorType type = linear.getWeight().getType();
  if (!linear.getTransposed())
    return type;
  return RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
}

/// Why a layer cannot have the integers; nothing where it can.
static std::optional<std::string> refuse(LinearOp linear, const Scheme &scheme) {
  if (linear.getArithmeticType().isF64())
    return "expected layers without f64, but got one with it";
  int64_t features = getOutIn(linear).getDimSize(1), group = scheme.getGroup(getOutIn(linear));
  std::string got = ", but got " + std::to_string(features);
  if (scheme.hasRows && features > kMostIntegerTerms)
    return "expected at most " + std::to_string(kMostIntegerTerms) + " input features" + got;
  if (!scheme.hasRows && (features == 0 || features % group || group % 2))
    return "expected input features in groups of " + (scheme.group ? std::to_string(group) : "an even size") + got;
  return std::nullopt;
}

/// Why a weight stays as it is; nothing where all that reads it are layers that may have integers.
static std::optional<std::string> refuse(BlockArgument weight, const Scheme &scheme, bool keepHeads) {
  std::string reason;
  llvm::raw_string_ostream out(reason);
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  bool isFloat = type && isa<Float16Type, BFloat16Type, Float32Type>(type.getElementType());
  if (!isFloat || type.getRank() != 2 || !type.hasStaticShape()) {
    out << "expected a weight of f16, bf16 or f32 with two static dimensions, but got '" << weight.getType() << "'";
    return reason;
  }
  if (weight.use_empty())
    return "expected a linear layer that reads the weight, but got none";
  for (OpOperand &use : weight.getUses()) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (!linear || &use != &linear.getWeightMutable()) {
      out << "expected linear layers as the only readers, but got '" << use.getOwner()->getName() << "'";
      return reason;
    }
    if (linear.getTransposed() != cast<LinearOp>(*weight.getUsers().begin()).getTransposed())
      return "expected layers that read the weight in one order, but got [out, in] and [in, out]";
    if (std::optional<std::string> mistake = refuse(linear, scheme))
      return mistake;
    if (keepHeads && llvm::any_of(linear->getUsers(), llvm::IsaPred<func::ReturnOp>))
      return "it is that of a head: the function returns what it computes";
  }
  return std::nullopt;
}

static SmallVector<LinearOp> getLayers(BlockArgument weight) {
  return llvm::map_to_vector(weight.getUsers(), llvm::CastTo<LinearOp>);
}

static QuantizeOp quantizeRows(OpBuilder &builder, Location loc, Value x, IntegerAttr group, Type scales) {
  return QuantizeOp::create(builder, loc,
                            TypeRange{cast<RankedTensorType>(x.getType()).clone(builder.getI8Type()), scales}, x,
                            /*static_scale=*/Value(), group ? Granularity::Group : Granularity::Row, group);
}

static Value transpose(OpBuilder &builder, Location loc, Value weight, RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  return linalg::TransposeOp::create(builder, loc, weight, empty, ArrayRef<int64_t>{1, 0})->getResult(0);
}

/// Each column of `x` times the number of `factor` for it, in f32.
static Value multiplyColumns(OpBuilder &builder, Location loc, Value x, Value factor) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t rank = type.getRank();
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, x), builder.getF32Type());
  AffineMap rows = builder.getMultiDimIdentityMap(rank);
  AffineMap columns = AffineMap::get(rank, 0, builder.getAffineDimExpr(rank - 1));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, TypeRange{empty.getType()}, ValueRange{x, factor}, empty,
                                   ArrayRef<AffineMap>{rows, columns, rows}, loops,
                                   [](OpBuilder &body, Location loc, ValueRange values) {
                                     Value wide = values[0];
                                     if (!wide.getType().isF32())
                                       wide = arith::ExtFOp::create(body, loc, body.getF32Type(), wide);
                                     Value product = arith::MulFOp::create(body, loc, wide, values[1]);
                                     linalg::YieldOp::create(body, loc, product);
                                   })
      .getResult(0);
}

namespace {
struct QuantizeLinear : resid::impl::QuantizeLinearBase<QuantizeLinear> {
  using QuantizeLinearBase::QuantizeLinearBase;

  void runOnOperation() override {
    std::optional<Scheme> found = Scheme::parse(schemeName);
    if (!found) {
      getOperation().emitError() << "expected a scheme among w8a8, w8, w8gN, w4 and w4gN, where N is even, but got '"
                                 << schemeName << "'";
      return signalPassFailure();
    }
    scheme = *found;
    if (scheme.bits == 4 && !given && !observe) {
      getOperation().emitError() << "expected given=true beside '" << schemeName
                                 << "', since no function returns integers of 4 bits, but got none";
      return signalPassFailure();
    }
    if (!factors.empty() && (!given || !scheme.hasRows)) {
      getOperation().emitError() << "expected given=true and scheme=w8a8 beside factors, but got '" << schemeName << "'"
                                 << (given ? "" : " without given");
      return signalPassFailure();
    }
    SmallVector<Attribute> entries;
    for (func::FuncOp function : getFunctionsToPrepare(getOperation()))
      if (failed(visit(function, entries)))
        return signalPassFailure();
    if (given || observe)
      getOperation()->setAttr(kQuantizedAttribute, ArrayAttr::get(&getContext(), entries));
  }

  LogicalResult visit(func::FuncOp function, SmallVectorImpl<Attribute> &entries) {
    Preparation preparation(function);
    rows.clear();
    lenders.clear();
    features.clear();
    lent.clear();
    observed.clear();
    reasons.clear();
    for (BlockArgument argument : function.getArguments())
      if (isCandidate(function, argument))
        reasons[argument] = findReason(function, argument, preparation);
    if (failed(findLenders(function)))
      return failure();
    for (unsigned index = 0, count = function.getNumArguments(); index != count; ++index)
      if (reasons.contains(function.getArgument(index)))
        visit(function, function.getArgument(index), preparation, entries);
    preparation.finish();
    if (observe)
      returnObserved(function);
    return success();
  }

  /// Which weight's name the factors of rows have. Layers that read the same rows share them.
  LogicalResult findLenders(func::FuncOp function) {
    for (BlockArgument weight : function.getArguments()) {
      auto found = reasons.find(weight);
      std::optional<std::string> name = getWeightName(function, weight.getArgNumber());
      if (found == reasons.end() || found->second || !name || !llvm::is_contained(factors, *name))
        continue;
      for (LinearOp layer : getLayers(weight)) {
        BlockArgument first = lenders.try_emplace(layer.getX(), weight).first->second;
        features[weight] = getOutIn(layer).getDimSize(1);
        if (first != weight)
          return layer.emitOpError("expected one of the weights that are read with these rows in factors, but got '")
                 << *getWeightName(function, first.getArgNumber()) << "' and '" << *name << "'";
      }
    }
    return success();
  }

  /// What @F_prepare makes is in no file.
  bool isCandidate(func::FuncOp function, BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    return getWeightName(function, index) || (!given && !observe && function.getArgAttr(index, kPreparedAttribute));
  }

  std::optional<std::string> findReason(func::FuncOp function, BlockArgument weight, Preparation &preparation) {
    std::optional<std::string> name = getWeightName(function, weight.getArgNumber());
    if (llvm::is_contained(keep, Preparation::getName(weight, "weight")) || (name && llvm::is_contained(keep, *name)))
      return "it is kept";
    if (std::optional<std::string> reason = refuse(weight, scheme, keepHeads))
      return reason;
    return preparation.refuse({weight});
  }

  void visit(func::FuncOp function, BlockArgument weight, Preparation &preparation,
             SmallVectorImpl<Attribute> &entries) {
    Location loc = getArgumentLocation(function, weight.getArgNumber());
    NamedAttrList entry = describe(function, weight);
    if (const std::optional<std::string> &reason = reasons[weight]) {
      entry.set("kept", StringAttr::get(&getContext(), *reason));
      if (report)
        emitRemark(loc) << "not quantised: " << *reason;
    } else {
      Builder builder(&getContext());
      LinearOp layer = getLayers(weight).front();
      entry.set("bits", builder.getI64IntegerAttr(scheme.bits));
      entry.set("transposed", builder.getI64IntegerAttr(layer.getTransposed()));
      entry.set("scale_shape", builder.getI64ArrayAttr(scheme.getScales(getOutIn(layer)).getShape()));
      if (report)
        emitRemark(loc) << "quantised (other values): " << getLayers(weight).size() << " layers of "
                        << weight.getType();
      if (observe)
        observeLayers(function, weight, entry);
      else
        quantize(function, weight, preparation);
    }
    entries.push_back(entry.getDictionary(&getContext()));
  }

  /// What the record says of every weight.
  NamedAttrList describe(func::FuncOp function, BlockArgument weight) {
    Builder builder(&getContext());
    auto type = cast<ShapedType>(weight.getType());
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    NamedAttrList entry;
    entry.set("function", builder.getStringAttr(function.getName()));
    entry.set("argument", builder.getI64IntegerAttr(weight.getArgNumber()));
    entry.set("weight", builder.getStringAttr(getWeightName(function, weight.getArgNumber()).value_or("")));
    entry.set("shape", builder.getI64ArrayAttr(type.getShape()));
    entry.set("element", builder.getStringAttr(element));
    return entry;
  }

  //===--------------------------------------------------------------------===//
  // Rewriting
  //===--------------------------------------------------------------------===//

  void quantize(func::FuncOp function, BlockArgument weight, Preparation &preparation) {
    SmallVector<LinearOp> layers = getLayers(weight);
    RankedTensorType type = getOutIn(layers.front());
    std::string name = Preparation::getName(weight, "weight") + "_scale";
    Builder builder(&getContext());
    IntegerAttr group = scheme.hasRows ? IntegerAttr() : builder.getI64IntegerAttr(scheme.getGroup(type));
    Value integers, scale;
    if (given) {
      integers = weight;
      preparation.changeType(weight, scheme.getIntegers(type));
      scale = preparation.append(weight, scheme.getScales(type), "_scale");
    } else {
      integers = preparation.convert(weight, [&](OpBuilder &ops) -> Value {
        Value matrix = layers.front().getTransposed() ? transpose(ops, function.getLoc(), weight, type) : Value(weight);
        QuantizeOp quantize = quantizeRows(ops, function.getLoc(), matrix, group, scheme.getScales(type));
        scale = quantize.getScale();
        return quantize.getQ();
      });
      preparation.append(scale, name);
    }
    for (LinearOp layer : layers)
      replace(layer, integers, scale, group, preparation);
  }

  /// The rows times their factors, where they have some.
  Value scaleRows(OpBuilder &builder, Location loc, Value x, Preparation &preparation) {
    BlockArgument lender = lenders.lookup(x);
    if (!lender)
      return x;
    auto type = RankedTensorType::get(features.at(lender), builder.getF32Type());
    Value &factor = lent[lender];
    if (!factor)
      factor = preparation.append(lender, type, "_factor");
    return multiplyColumns(builder, loc, x, factor);
  }

  void replace(LinearOp layer, Value integers, Value scale, IntegerAttr group, Preparation &preparation) {
    OpBuilder builder(layer);
    Value x = layer.getX(), xScale;
    if (scheme.hasRows) {
      QuantizeOp &made = rows[x];
      if (!made) {
        builder.setInsertionPointAfterValue(x);
        auto type = cast<RankedTensorType>(x.getType());
        Type scales = RankedTensorType::get(type.getShape().drop_back(), builder.getF32Type());
        Value scaled = scaleRows(builder, layer.getLoc(), x, preparation);
        made = quantizeRows(builder, layer.getLoc(), scaled, /*group=*/IntegerAttr(), scales);
        builder.setInsertionPoint(layer);
      }
      x = made.getQ();
      xScale = made.getScale();
    }
    auto quantized = LinearOp::create(builder, layer.getLoc(), layer.getType(), x, integers, xScale, scale,
                                      /*weight_zero=*/Value(), /*weight_offset=*/Value(), layer.getBias(),
                                      /*transposed=*/false, group);
    // What reads its result as rows has the factors of these still.
    if (BlockArgument lender = lenders.lookup(layer.getResult()))
      lenders[quantized.getResult()] = lender;
    layer.replaceAllUsesWith(quantized.getResult());
    layer.erase();
  }

  //===--------------------------------------------------------------------===//
  // Observing
  //===--------------------------------------------------------------------===//

  /// Which results the rows of the weight's layers become, and the norm that makes them or why no factor can move
  /// there. Rows in a loop or a branch become none.
  void observeLayers(func::FuncOp function, BlockArgument weight, NamedAttrList &entry) {
    Builder builder(&getContext());
    SmallVector<int64_t> results;
    for (LinearOp layer : getLayers(weight)) {
      if (layer->getBlock() != &function.getBody().front())
        continue;
      auto [place, isNew] = observed.try_emplace(layer.getX(), function.getNumResults() + observed.size());
      results.push_back(place->second);
    }
    entry.set("rows", builder.getI64ArrayAttr(results));
    NormSite norm;
    if (std::optional<std::string> reason = refuseSmoothing(weight, norm)) {
      entry.set("not_smoothed", builder.getStringAttr(*reason));
      return;
    }
    NamedAttrList names;
    for (auto [key, parameter] : {std::pair("gamma", norm.parts.gamma), std::pair("beta", norm.parts.beta)})
      if (parameter)
        names.set(key, builder.getStringAttr(*getWeightName(function, cast<BlockArgument>(parameter).getArgNumber())));
    entry.set("norm", names.getDictionary(&getContext()));
  }

  /// Why the columns of a weight cannot lend factors to the norm that makes the rows of its layers; else the norm.
  std::optional<std::string> refuseSmoothing(BlockArgument weight, NormSite &norm) {
    SmallVector<LinearOp> layers = getLayers(weight);
    Value x = layers.front().getX();
    Operation *op = x.getDefiningOp();
    SmallVector<NormSite> sites = op ? collectNormSites(op) : SmallVector<NormSite>();
    if (sites.size() != 1 || sites.front().op != op || x != op->getResult(0))
      return "expected rows that a norm makes, but got " +
             (op ? "the result of '" + op->getName().getStringRef().str() + "'" : std::string("an argument"));
    norm = sites.front();
    if (!norm.parts.gamma || norm.parts.zeroCenteredGamma || norm.parts.rank != 1 || norm.parts.hasWiderGamma())
      return "expected a norm over one dimension, with a gamma that is not zero-centred, but got another one";
    for (Value parameter : {norm.parts.gamma, norm.parts.beta})
      if (parameter && !isOwnWeight(parameter))
        return "expected weights that this norm alone reads as gamma and beta, but got others";
    for (OpOperand &use : x.getUses()) {
      auto layer = dyn_cast<LinearOp>(use.getOwner());
      if (!layer || &use != &layer.getXMutable())
        return "expected linear layers as the only readers of the norm, but got '" +
               use.getOwner()->getName().getStringRef().str() + "'";
      auto read = dyn_cast<BlockArgument>(layer.getWeight());
      auto found = read ? reasons.find(read) : reasons.end();
      if (found == reasons.end() || found->second)
        return "expected layers with integers as the only readers of the norm, but got one without";
      for (LinearOp other : getLayers(read))
        if (other.getX() != x)
          return "expected a weight that is read with rows of this norm alone, but got others, too";
    }
    return std::nullopt;
  }

  static bool isOwnWeight(Value parameter) {
    auto argument = dyn_cast<BlockArgument>(parameter);
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
    return function && getWeightName(function, argument.getArgNumber()) && parameter.hasOneUse();
  }

  /// Rows are results after all others.
  void returnObserved(func::FuncOp function) {
    auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    for (auto [x, place] : observed)
      end.getOperandsMutable().append(x);
    function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), end.getOperandTypes()));
  }

  Scheme scheme;
  /// The rows that layers read, as integers.
  DenseMap<Value, QuantizeOp> rows;
  /// The weights whose names the factors of rows have.
  DenseMap<Value, BlockArgument> lenders;
  /// How many numbers these factors are.
  DenseMap<BlockArgument, int64_t> features;
  /// The factors, by these weights.
  DenseMap<BlockArgument, Value> lent;
  /// The rows that layers read, by the results that they become.
  llvm::MapVector<Value, int64_t> observed;
  /// Why each weight stays as it is, or nothing.
  DenseMap<BlockArgument, std::optional<std::string>> reasons;
};
} // namespace
