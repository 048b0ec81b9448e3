// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/weights/Prepare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/weights/WeightSlices.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::resid;

static bool isPrepareFunction(func::FuncOp function) { return function->hasAttr(kPreparesAttribute); }

SmallVector<func::FuncOp> resid::getFunctionsToPrepare(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  module.walk([&](func::FuncOp function) {
    if (!function.isExternal() && !isPrepareFunction(function))
      functions.push_back(function);
  });
  return functions;
}

static std::string getPrepareName(func::FuncOp function) { return (function.getName() + "_prepare").str(); }

/// The function that prepares the weights of `function`, if there is one.
static func::FuncOp findPrepare(func::FuncOp function) {
  auto prepare =
      dyn_cast_or_null<func::FuncOp>(SymbolTable::lookupSymbolIn(function->getParentOp(), getPrepareName(function)));
  return prepare && isPrepareFunction(prepare) ? prepare : nullptr;
}

//===----------------------------------------------------------------------===//
// What can be transformed
//===----------------------------------------------------------------------===//

static bool isArgument(Value value, func::FuncOp function) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &function.getBody().front();
}

std::optional<std::string> Preparation::refuse(ArrayRef<Value> weights) {
  if (std::optional<std::string> reason = refuseSlices(weights))
    return reason;
  bool allConstant = true;
  for (Value weight : weights) {
    if (std::optional<WeightSlice> slice = getWeightSlice(weight))
      weight = slice->stack;
    if (!weight || getConstantWeight(weight))
      continue;
    allConstant = false;
    if (isArgument(weight, function) || isOwn(weight.getDefiningOp()))
      continue;
    Operation *definition = weight.getDefiningOp();
    return "expected weights that are constants or arguments of the function, but got " +
           (definition ? "the result of " + definition->getName().getStringRef().str()
                       : std::string("an argument of a region"));
  }
  if (allConstant)
    return std::nullopt;
  std::string name = "@" + function.getName().str();
  if (!SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return "expected a function that nothing calls, since its arguments change, but " + name +
           " is called; inline the calls first";
  if (!findPrepare(function) && SymbolTable::lookupSymbolIn(function->getParentOp(), getPrepareName(function)))
    return "expected the name " + name + "_prepare to be free, but the module has such a symbol";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

namespace {
/// Remembers the ops that are made.
struct Recorder : OpBuilder::Listener {
  Recorder(SetVector<Operation *> &ops, Block *block) : ops(ops), block(block) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (op->getBlock() == block)
      ops.insert(op);
  }
  SetVector<Operation *> &ops;
  Block *block;
};
} // namespace

void Preparation::setInsertionPoint(OpBuilder &builder) {
  // No other op is a place to hold on to: the rewrite may have erased it.
  if (ops.empty())
    builder.setInsertionPointToStart(&function.getBody().front());
  else
    builder.setInsertionPointAfter(ops.back());
}

Value Preparation::computeSlice(const WeightFormula &formula, Value replaces, StringRef name) {
  SmallVector<WeightSlice> layers = getWeightSlices(formula);
  std::optional<WeightSlice> replaced = getWeightSlice(replaces);
  Value stack = compute(stackFormula(formula), replaced ? replaced->stack : Value(), name);
  for (const WeightSlice &layer : layers)
    slices.insert(layer.op);
  tensor::ExtractSliceOp slice = createSlice(stack, layers.front().number);
  for (Value size : slice.getSizes())
    slices.insert(size.getDefiningOp());
  slices.insert(slice);
  return slice;
}

Value Preparation::compute(const WeightFormula &formula, Value replaces, StringRef name) {
  if (!getWeightSlices(formula).empty())
    return computeSlice(formula, replaces, name);
  OpBuilder builder(function.getContext());
  setInsertionPoint(builder);
  if (DenseFPElementsAttr elements = foldFormula(formula)) {
    // In front of the ops that are moved away later, which may read it.
    builder.setInsertionPointToStart(&function.getBody().front());
    return arith::ConstantOp::create(builder, function.getLoc(), elements.getType(), elements);
  }
  Recorder recorder(ops, &function.getBody().front());
  builder.setListener(&recorder);
  WeightFormula local = formula;
  for (WeightTerm &term : local.terms)
    for (WeightFactor &factor : term.factors)
      if (getConstantWeight(factor.weight))
        factor.weight = builder.clone(*factor.weight.getDefiningOp())->getResult(0);
  Value value = emitFormula(builder, function.getLoc(), local);
  results.push_back({value, replaces, name.str()});
  return value;
}

Value Preparation::convert(BlockArgument weight, function_ref<Value(OpBuilder &)> make) {
  OpBuilder builder(function.getContext());
  setInsertionPoint(builder);
  Recorder recorder(ops, &function.getBody().front());
  builder.setListener(&recorder);
  Value value = make(builder);
  results.push_back({value, weight, getName(weight, "weight"), /*changesType=*/true});
  return value;
}

BlockArgument Preparation::append(BlockArgument weight, Type type, StringRef suffix) {
  BlockArgument added = appendArgument(type, weight.getLoc(), getName(weight, "weight") + suffix.str());
  if (std::optional<std::string> name = getWeightName(function, weight.getArgNumber()))
    function.setArgAttr(added.getArgNumber(), kWeightAttribute,
                        StringAttr::get(function.getContext(), *name + suffix.str()));
  return added;
}

std::string Preparation::getName(Value weight, StringRef otherwise) {
  if (std::optional<WeightSlice> slice = getWeightSlice(weight))
    weight = slice->stack;
  auto argument = dyn_cast_or_null<BlockArgument>(weight);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  auto name =
      function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kArgumentNameAttribute) : StringAttr();
  return name ? name.str() : otherwise.str();
}

//===----------------------------------------------------------------------===//
// Moving into @F_prepare
//===----------------------------------------------------------------------===//

/// The op of the function's own block that is, or contains, `op`.
Operation *Preparation::getTopLevelOp(Operation *op) { return function.getBody().front().findAncestorOpInBlock(*op); }

bool Preparation::isReadOutside(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return !isOwn(getTopLevelOp(user)); });
}

void Preparation::eraseDeadOps() {
  for (Operation *slice : llvm::reverse(slices))
    if (slice->use_empty())
      slice->erase();
  slices.clear();
  SmallVector<Operation *> all(ops.takeVector()), kept;
  for (Operation *op : llvm::reverse(all)) {
    if (!op->use_empty()) {
      kept.push_back(op);
      continue;
    }
    llvm::erase_if(results, [&](const Result &result) { return result.value.getDefiningOp() == op; });
    op->erase();
  }
  ops.insert_range(llvm::reverse(kept));
}

func::FuncOp Preparation::getOrCreatePrepare() {
  if (func::FuncOp prepare = findPrepare(function))
    return prepare;
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto prepare =
      func::FuncOp::create(builder, function.getLoc(), getPrepareName(function), builder.getFunctionType({}, {}));
  prepare.setVisibility(function.getVisibility());
  prepare->setAttr(kPreparesAttribute, builder.getStringAttr(function.getName()));
  builder.setInsertionPointToStart(prepare.addEntryBlock());
  func::ReturnOp::create(builder, function.getLoc());
  return prepare;
}

static func::ReturnOp getReturn(func::FuncOp function) {
  return cast<func::ReturnOp>(function.getBody().front().getTerminator());
}

static std::optional<int64_t> getIndex(func::FuncOp function, BlockArgument argument, StringRef attribute) {
  auto index = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), attribute);
  return index ? std::optional(index.getInt()) : std::nullopt;
}

static void setIndex(func::FuncOp function, BlockArgument argument, StringRef attribute, int64_t index) {
  function.setArgAttr(argument.getArgNumber(), attribute, Builder(function.getContext()).getI64IntegerAttr(index));
}

/// What stands for an argument of F in @F_prepare: a result that it has computed, or an argument of its own.
Value Preparation::getPrepareInput(func::FuncOp prepare, BlockArgument argument) {
  if (std::optional<int64_t> result = getIndex(function, argument, kPreparedAttribute))
    return getReturn(prepare).getOperand(*result);
  if (std::optional<int64_t> input = getIndex(function, argument, kPrepareInputAttribute))
    return prepare.getArgument(*input);
  unsigned index = prepare.getNumArguments();
  DictionaryAttr attributes = function.getArgAttrDict(argument.getArgNumber());
  (void)prepare.insertArgument(index, argument.getType(), attributes, argument.getLoc());
  setIndex(function, argument, kPrepareInputAttribute, index);
  return prepare.getArgument(index);
}

static void updateResultTypes(func::FuncOp prepare) {
  prepare.setType(
      FunctionType::get(prepare.getContext(), prepare.getArgumentTypes(), getReturn(prepare).getOperandTypes()));
}

std::string Preparation::getUniqueName(StringRef name) {
  auto isTaken = [&](StringRef candidate) {
    return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) {
      auto other = function.getArgAttrOfType<StringAttr>(i, kArgumentNameAttribute);
      return other && other.getValue() == candidate;
    });
  };
  std::string unique = name.str();
  for (unsigned count = 2; isTaken(unique); ++count)
    unique = (name + "_" + Twine(count)).str();
  return unique;
}

SmallVector<BlockArgument> Preparation::getReadArguments() {
  SmallVector<BlockArgument> read;
  for (BlockArgument argument : function.getArguments())
    if (llvm::any_of(argument.getUsers(), [&](Operation *user) { return isOwn(getTopLevelOp(user)); }))
      read.push_back(argument);
  return read;
}

void Preparation::moveOps(func::FuncOp prepare, ArrayRef<BlockArgument> read) {
  IRMapping mapping;
  OpBuilder builder(getReturn(prepare));
  for (BlockArgument argument : read)
    mapping.map(argument, getPrepareInput(prepare, argument));
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  // An argument is replaced by one result at most, so that a weight read by two layers becomes two arguments.
  DenseMap<Value, Value> origins;
  SmallPtrSet<Value, 8> taken;
  for (Result &result : results) {
    Value origin = result.replaces;
    if (auto found = origins.find(origin); found != origins.end())
      origin = found->second;
    origins[result.value] = origin;
    if (!isReadOutside(result.value))
      continue;
    auto argument = dyn_cast_or_null<BlockArgument>(origin);
    bool takesPlace = argument && isArgument(argument, function) && !isReadOutside(argument) &&
                      (result.changesType || argument.getType() == result.value.getType()) &&
                      taken.insert(argument).second;
    if (!takesPlace)
      argument = appendArgument(result.value.getType(), result.value.getLoc(), result.name);
    else if (result.changesType)
      changeType(argument, result.value.getType());
    handOver(prepare, mapping.lookup(result.value), argument);
    result.value.replaceUsesWithIf(argument, [&](OpOperand &use) { return !isOwn(getTopLevelOp(use.getOwner())); });
  }
}

void Preparation::changeType(BlockArgument argument, Type type) {
  argument.setType(type);
  SmallVector<Type> types = llvm::to_vector(function.getArgumentTypes());
  types[argument.getArgNumber()] = type;
  function.setType(function.getFunctionType().clone(types, function.getResultTypes()));
}

BlockArgument Preparation::appendArgument(Type type, Location loc, StringRef name) {
  unsigned index = function.getNumArguments();
  Builder builder(function.getContext());
  NamedAttribute attribute(kArgumentNameAttribute, builder.getStringAttr(getUniqueName(name)));
  (void)function.insertArgument(index, type, builder.getDictionaryAttr(attribute), loc);
  return function.getArgument(index);
}

void Preparation::handOver(func::FuncOp prepare, Value value, BlockArgument argument) {
  func::ReturnOp returnOp = getReturn(prepare);
  if (std::optional<int64_t> index = getIndex(function, argument, kPreparedAttribute)) {
    returnOp.setOperand(*index, value);
    return;
  }
  // Nothing but the name of the old weight holds for the new one.
  SmallVector<NamedAttribute> attributes;
  if (Attribute name = function.getArgAttr(argument.getArgNumber(), kArgumentNameAttribute))
    attributes.emplace_back(kArgumentNameAttribute, name);
  function.setArgAttrs(argument.getArgNumber(), attributes);
  setIndex(function, argument, kPreparedAttribute, returnOp.getNumOperands());
  returnOp.getOperandsMutable().append(value);
}

/// Drops the results of @F_prepare that no argument of F stands for any more.
static void dropResults(func::FuncOp function, func::FuncOp prepare) {
  SmallVector<Value> kept;
  func::ReturnOp returnOp = getReturn(prepare);
  for (auto [index, value] : llvm::enumerate(returnOp.getOperands()))
    for (BlockArgument argument : function.getArguments())
      if (getIndex(function, argument, kPreparedAttribute) == static_cast<int64_t>(index)) {
        setIndex(function, argument, kPreparedAttribute, kept.size());
        kept.push_back(value);
        break;
      }
  returnOp.getOperandsMutable().assign(kept);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(prepare.getBody().front().without_terminator())))
    if (op.use_empty())
      op.erase();
}

void Preparation::eraseUnreadArguments(func::FuncOp prepare, ArrayRef<BlockArgument> read) {
  llvm::BitVector unread(function.getNumArguments());
  for (BlockArgument argument : read)
    if (argument.use_empty())
      unread.set(argument.getArgNumber());
  (void)function.eraseArguments(unread);
  dropResults(function, prepare);
}

void Preparation::finish() {
  eraseDeadOps();
  if (!ops.empty()) {
    SmallVector<BlockArgument> read = getReadArguments();
    func::FuncOp prepare = getOrCreatePrepare();
    moveOps(prepare, read);
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    eraseUnreadArguments(prepare, read);
    updateResultTypes(prepare);
  }
  ops.clear();
  results.clear();
}
