// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/random/Scope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::resid::random {

RankedTensorType getType(ArrayRef<Dim> dims, Type element) {
  return RankedTensorType::get(
      llvm::map_to_vector(dims, [](Dim dim) { return dim.isDynamic ? ShapedType::kDynamic : dim.size; }), element);
}

Value Scope::noted(Type type) {
  SmallVector<Value> found;
  llvm::copy_if(values, std::back_inserter(found), [&](Value value) { return value.getType() == type; });
  return found.empty() ? Value() : found[random.below(static_cast<int64_t>(found.size()))];
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// "f32[3x5]=", the beginning of an argument.
static std::string getHead(ArrayRef<Dim> dims, Type element) {
  auto sizes = llvm::map_range(dims, [](Dim dim) { return std::to_string(dim.size); });
  return print(element) + "[" + llvm::join(sizes, "x") + "]=";
}

static std::string getRandomText(Random &random, ArrayRef<Dim> dims, Type element, double scale) {
  std::string text = getHead(dims, element) + "random:" + std::to_string(random.below(1000000));
  if (scale != 1.0)
    llvm::raw_string_ostream(text) << "*" << llvm::format("%.3g", scale);
  return text;
}

/// Values that arithmetic is special about, among ordinary ones.
static std::string getHardText(Random &random, ArrayRef<Dim> dims, Type element) {
  int64_t size = 1;
  for (Dim dim : dims)
    size *= dim.size;
  // Nearly the largest number; that of f16 is so small that squares of it are ordinary in f32.
  StringRef huge = element.isF16() ? "65504" : "3e38", low = element.isF16() ? "-65504" : "-3e38";
  SmallVector<std::string> values;
  for (int64_t i = 0; i != size; ++i)
    values.push_back(
        random.chance(0.2)
            ? random.pick<StringRef>({"0", "-0.0", "inf", "-inf", "nan", "1e-30", "60000", huge, low, "1"}).str()
            : std::to_string(random.between(-300, 300) / 100.0));
  return getHead(dims, element) + llvm::join(values, ",");
}

//===----------------------------------------------------------------------===//
// The body of a public function
//===----------------------------------------------------------------------===//

EntryScope::EntryScope(Random &random, ModuleOp module, StringRef name)
    : Scope(random, OpBuilder(module.getContext())) {
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, loc(), name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  sharing = random.chance(0.3) ? 0.5 : 0.0;
  constants = random.chance(0.15) ? 0.6 : 0.0;
}

Value EntryScope::addArgument(Type type, std::string text) {
  unsigned index = function.getNumArguments();
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("resid.name", builder.getStringAttr("a" + Twine(index)))};
  // What is given may be a weight or not: nothing but the packing of weights asks for it.
  if (isa<RankedTensorType>(type))
    attributes.push_back(builder.getNamedAttr("resid.weight", builder.getUnitAttr()));
  (void)function.insertArgument(index, type, builder.getDictionaryAttr(attributes), loc());
  texts.push_back(std::move(text));
  return function.getArgument(index);
}

Value EntryScope::makeConstant(RankedTensorType type, double scale) {
  auto element = cast<FloatType>(type.getElementType());
  SmallVector<APFloat> values;
  for (int64_t i = 0; i != type.getNumElements(); ++i) {
    APFloat value(scale * static_cast<double>(random.between(-64, 64)) / 32.0);
    bool lost;
    value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    values.push_back(value);
  }
  auto start = OpBuilder::atBlockBegin(&function.getBody().front());
  return arith::ConstantOp::create(start, loc(), DenseElementsAttr::get(type, values));
}

Value EntryScope::weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) {
  RankedTensorType type = getType(dims, element);
  if (random.chance(sharing))
    for (const Stream &known : weights)
      if (known.getType() == type && llvm::equal(known.dims, dims, [](Dim a, Dim b) { return a.size == b.size; }))
        return known.value;
  bool mayBeConstant = type.hasStaticShape() && type.getNumElements() <= 256;
  Value made = mayBeConstant && random.chance(constants)
                   ? makeConstant(type, scale)
                   : addArgument(type, getRandomText(random, dims, element, scale));
  weights.push_back({made, Dims(dims)});
  return made;
}

Value EntryScope::integer(OpBuilder &at, int64_t value) {
  for (auto [known, argument] : integers)
    if (known == value)
      return argument;
  integers.emplace_back(value, addArgument(builder.getI64Type(), std::to_string(value)));
  return integers.back().second;
}

Stream EntryScope::input(ArrayRef<Dim> dims, Type element) {
  bool isEmpty = llvm::any_of(dims, [](Dim dim) { return dim.size == 0; });
  std::string text =
      !isEmpty && random.chance(0.03) ? getHardText(random, dims, element) : getRandomText(random, dims, element, 1.0);
  Value value = addArgument(getType(dims, element), std::move(text));
  note(value);
  return {value, Dims(dims)};
}

func::FuncOp makeCallee(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  auto count = std::distance(functions.begin(), functions.end());
  auto start = OpBuilder::atBlockBegin(module.getBody());
  auto callee = func::FuncOp::create(start, start.getUnknownLoc(), ("callee" + Twine(count)).str(),
                                     start.getFunctionType({}, {}));
  callee.setPrivate();
  callee.addEntryBlock();
  return callee;
}

EntryPoint EntryScope::finish(ValueRange results) {
  func::ReturnOp::create(builder, loc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), results.getTypes()));
  return {function.getName().str(), texts};
}

//===----------------------------------------------------------------------===//
// Regions, callees, loops
//===----------------------------------------------------------------------===//

Value RegionScope::weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) {
  return outer.weight(random.chance(0.5) ? at : outer.builder, dims, element, scale);
}

Value RegionScope::noted(Type type) {
  Value own = random.chance(0.5) ? Scope::noted(type) : Value();
  return own ? own : outer.noted(type);
}

CalleeScope::CalleeScope(Scope &caller, func::FuncOp function)
    : Scope(caller.random, OpBuilder::atBlockBegin(&function.getBody().front())), caller(caller), function(function) {}

Value CalleeScope::pass(Value value) {
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, value.getType(), {}, loc());
  operands.push_back(value);
  return function.getArgument(index);
}

Value CalleeScope::weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) {
  return pass(caller.weight(caller.builder, dims, element, scale));
}

Value CalleeScope::integer(OpBuilder &at, int64_t value) { return pass(caller.integer(caller.builder, value)); }

Value CalleeScope::noted(Type type) {
  Value found = caller.noted(type);
  return found ? pass(found) : Value();
}

Value CalleeScope::finish(Value result) {
  func::ReturnOp::create(builder, loc(), result);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), result.getType()));
  return func::CallOp::create(caller.builder, loc(), function, operands).getResult(0);
}

LoopScope::LoopScope(Scope &outer, scf::ForOp loop, int64_t count)
    : Scope(outer.random, OpBuilder::atBlockBegin(loop.getBody())), outer(outer), loop(loop), count(count) {
  outer.builder.setInsertionPoint(loop);
}

Value LoopScope::weight(OpBuilder &at, ArrayRef<Dim> dims, Type element, double scale) {
  if (random.chance(0.2))
    return outer.weight(outer.builder, dims, element, scale);
  Dims stackedDims{{std::max<int64_t>(count, 1), random.chance(0.3)}};
  llvm::append_range(stackedDims, dims);
  Value stacked = outer.weight(outer.builder, stackedDims, element, scale);
  SmallVector<OpFoldResult> offsets{loop.getInductionVar()}, sizes{builder.getIndexAttr(1)};
  for (auto [i, dim] : llvm::enumerate(dims)) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(dim.isDynamic ? OpFoldResult(tensor::DimOp::create(at, loc(), stacked, i + 1).getResult())
                                  : OpFoldResult(builder.getIndexAttr(dim.size)));
  }
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(at, loc(), getType(dims, element), stacked, offsets, sizes, strides);
}

Value LoopScope::layer() {
  if (!index) {
    auto start = OpBuilder::atBlockBegin(loop.getBody());
    index = arith::IndexCastOp::create(start, loc(), start.getI64Type(), loop.getInductionVar());
  }
  return index;
}

Value LoopScope::noted(Type type) {
  Value own = random.chance(0.5) ? Scope::noted(type) : Value();
  return own ? own : outer.noted(type);
}

} // namespace mlir::resid::random
