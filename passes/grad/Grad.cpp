// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-grad: which function is differentiated, what goes into the functions that are made and comes out, and the order
// in which the rules run. What an op's gradient is, its rule says.

#include "dialect/FunctionAttributes.h"
#include "dialect/InlineCalls.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/grad/Activity.h"
#include "passes/grad/BlockRules.h"
#include "passes/grad/Rules.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::resid {
#define GEN_PASS_DEF_GRAD
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// The bytes of the values, as a polynomial in sizes at run time.
static std::string printBytes(ArrayRef<Value> values) {
  // The factor of each power.
  SmallVector<int64_t> factors(1, 0);
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    int64_t bytes = llvm::divideCeil(getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(), 8), power = 0;
    for (int64_t size : type ? type.getShape() : ArrayRef<int64_t>())
      ShapedType::isDynamic(size) ? ++power : bytes *= size;
    factors.resize(std::max<size_t>(factors.size(), power + 1));
    factors[power] += bytes;
  }
  SmallVector<std::string> terms;
  for (auto [power, factor] : llvm::enumerate(factors))
    if (factor != 0) {
      terms.push_back(std::to_string(factor));
      for (size_t count = 0; count != power; ++count)
        terms.back() += "·?";
    }
  return (terms.empty() ? "0" : llvm::join(terms, " + ")) + " bytes";
}

static NamedAttrList nameArgument(Builder &builder, const Twine &name) {
  NamedAttrList attributes;
  attributes.set(kArgumentNameAttribute, builder.getStringAttr(name));
  return attributes;
}

/// Adds an argument at that place.
static Value insertArgument(func::FuncOp function, unsigned place, Type type, const Twine &name) {
  Builder builder(function.getContext());
  [[maybe_unused]] LogicalResult added = function.insertArgument(
      place, type, nameArgument(builder, name).getDictionary(function.getContext()), function.getLoc());
  assert(succeeded(added) && "a function takes any argument");
  return function.getArgument(place);
}

namespace {

/// The differentiation of one function. In the split mode the backward is another function than the forward.
class Differentiation {
public:
  Differentiation(func::FuncOp forward, ArrayRef<unsigned> wrt, GradMode mode, GradSave save)
      : forward(forward), wrt(wrt), mode(mode), save(save), original(forward.getNumArguments()),
        results(forward.getNumResults()) {}

  LogicalResult run(StringRef name);

private:
  SmallVector<Value> getSources() const;
  void createBackward(StringRef name);
  void addCotangents(Gradients &gradients);
  Value getSaved(Value value);
  void returnSaved();
  void returnGradients(Gradients &gradients);

  func::FuncOp forward, backward;
  ArrayRef<unsigned> wrt;
  GradMode mode;
  GradSave save;
  /// How many arguments and results the function has.
  unsigned original, results;
  /// What the forward hands to the backward, in the order of the forward.
  SmallVector<Value> saved;
};

} // namespace

SmallVector<Value> Differentiation::getSources() const {
  func::FuncOp function = forward;
  return llvm::map_to_vector(wrt, [&](unsigned index) -> Value { return function.getArgument(index); });
}

/// A function with the arguments of the forward and an empty body; in the other mode, the forward itself.
void Differentiation::createBackward(StringRef name) {
  if (mode == GradMode::ValueAndGrad) {
    backward = forward;
    return;
  }
  OpBuilder builder(forward.getContext());
  builder.setInsertionPointAfter(forward);
  backward = func::FuncOp::create(builder, forward.getLoc(), name, forward.getFunctionType());
  // Results have attributes of their own.
  if (ArrayAttr attributes = forward.getArgAttrsAttr())
    backward.setArgAttrsAttr(attributes);
  backward.setVisibility(forward.getVisibility());
  Block *body = backward.addEntryBlock();
  for (auto [argument, old] : llvm::zip_equal(body->getArguments(), forward.getArguments()))
    argument.setLoc(old.getLoc());
  builder.setInsertionPointToEnd(body);
  func::ReturnOp::create(builder, forward.getLoc());
}

/// The gradients of the results come in.
void Differentiation::addCotangents(Gradients &gradients) {
  Operation *terminator = forward.front().getTerminator();
  for (auto [index, result] : llvm::enumerate(terminator->getOperands()))
    if (hasGradient(result.getType())) {
      Value cotangent = insertArgument(backward, backward.getNumArguments(), result.getType(), "d_out" + Twine(index));
      gradients.add(result, cotangent);
    }
}

/// The value itself where the backward sees it, else an argument of the backward, in the order of the forward.
Value Differentiation::getSaved(Value value) {
  if (forward == backward)
    return value;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return backward.getArgument(argument.getArgNumber());
  auto isBefore = [](Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    if (first != second)
      return first->isBeforeInBlock(second);
    return cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber();
  };
  auto *place = llvm::lower_bound(saved, value, isBefore);
  unsigned index = place - saved.begin();
  saved.insert(place, value);
  return insertArgument(backward, original + index, value.getType(), "saved");
}

void Differentiation::returnSaved() {
  for (auto [index, value] : llvm::enumerate(saved)) {
    [[maybe_unused]] LogicalResult added = forward.insertResult(results + index, value.getType(), DictionaryAttr());
    assert(succeeded(added) && "a function takes any result");
    // The number of an argument tells which result it is.
    backward.setArgAttr(original + index, kArgumentNameAttribute,
                        StringAttr::get(forward.getContext(), "saved" + Twine(index)));
  }
  Operation *terminator = forward.front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), saved);
}

/// In the split mode these are all results, else they stand after those of the function.
void Differentiation::returnGradients(Gradients &gradients) {
  ImplicitLocOpBuilder &builder = gradients.getBuilder();
  builder.setLoc(backward.getLoc());
  SmallVector<Value> values;
  for (Value source : getSources()) {
    Value gradient = gradients.get(source);
    values.push_back(gradient ? gradient : createZeros(gradients, source));
  }
  Operation *terminator = backward.front().getTerminator();
  if (backward != forward)
    backward.setFunctionType(
        FunctionType::get(backward.getContext(), backward.getArgumentTypes(), ValueRange(values).getTypes()));
  else
    for (auto [index, value] : llvm::enumerate(values)) {
      [[maybe_unused]] LogicalResult added = backward.insertResult(results + index, value.getType(), DictionaryAttr());
      assert(succeeded(added) && "a function takes any result");
    }
  terminator->insertOperands(terminator->getNumOperands(), values);
}

LogicalResult Differentiation::run(StringRef name) {
  Block &body = forward.front();
  // Where one function computes both, nothing is computed twice.
  Forward known(mode == GradMode::ValueAndGrad ? GradSave::All : save);
  if (failed(verifyBlock(body, getSources())) || failed(prepareBlock(body, getSources(), known)))
    return failure();
  createBackward(name);
  DenseSet<Value> needed = Activity(body, getSources()).needed;
  Gradients gradients(
      OpBuilder(backward.front().getTerminator()), needed, forward.getBody(),
      [&](Value value) { return getSaved(value); }, known);
  addCotangents(gradients);
  if (failed(differentiateBlock(body, getSources(), gradients))) {
    if (backward != forward)
      backward.erase();
    return failure();
  }
  returnGradients(gradients);
  returnSaved();
  if (mode == GradMode::Split)
    forward.emitRemark() << "saves " << saved.size() << (saved.size() == 1 ? " value for '" : " values for '") << name
                         << "': " << printBytes(saved);
  return success();
}

/// Makes the forward, a copy of the function, give what the backward reads, and makes the backward after it:
/// `backward` is its name. In the other mode the forward becomes both, and there is no such name. `wrt` are the
/// arguments whose gradients are made.
static LogicalResult differentiate(func::FuncOp forward, StringRef backward, ArrayRef<unsigned> wrt, GradMode mode,
                                   GradSave save) {
  return Differentiation(forward, wrt, mode, save).run(backward);
}

/// The arguments whose gradients are made.
static FailureOr<SmallVector<unsigned>> findArguments(func::FuncOp function, ArrayRef<int64_t> wrt) {
  auto isFloats = [](Type type) { return isa<RankedTensorType>(type) && hasGradient(type); };
  SmallVector<unsigned> arguments;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (wrt.empty() && isFloats(type))
      arguments.push_back(index);
  if (wrt.empty() && arguments.empty())
    return function.emitError("expected an argument that is a tensor of floats, but '")
           << function.getSymName() << "' has none";
  for (int64_t index : wrt) {
    if (index < 0 || index >= int64_t(function.getNumArguments()))
      return function.emitError("expected an argument from 0 to ")
             << int64_t(function.getNumArguments()) - 1 << " in wrt, but got " << index;
    if (llvm::is_contained(arguments, static_cast<unsigned>(index)))
      return function.emitError("expected each argument once in wrt, but got ") << index << " twice";
    if (!isFloats(function.getArgumentTypes()[index]))
      return emitError(getArgumentLocation(function, index))
             << "expected a tensor of floats as argument " << index << ", whose gradient is asked for, but got "
             << function.getArgumentTypes()[index];
    arguments.push_back(index);
  }
  return arguments;
}

namespace {
struct Grad : resid::impl::GradBase<Grad> {
  using GradBase::GradBase;

  /// The rules come with the dialects, before any program is read.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ResidDialect, affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, scf::SCFDialect,
                    linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect>();
#define RESID_RULE_FAMILY(NAME) register##NAME##Rules(registry);
#include "passes/grad/RuleFamilies.def"
  }

  void runOnOperation() override {
    if (failed(differentiate()))
      signalPassFailure();
  }

  LogicalResult differentiate();
  FailureOr<func::FuncOp> findFunction();
  LogicalResult expand(func::FuncOp copy);
};
} // namespace

FailureOr<func::FuncOp> Grad::findFunction() {
  auto found = dyn_cast_or_null<func::FuncOp>(SymbolTable::lookupSymbolIn(getOperation(), function));
  if (!found)
    return getOperation().emitError("expected a function to differentiate, but '") << function << "' is none";
  if (!found.getBody().hasOneBlock())
    return found.emitError("expected a function with one block to differentiate, but '")
           << function << "' has " << found.getBody().getBlocks().size();
  SmallVector<StringRef> endings{"_value_and_grad"};
  if (mode == GradMode::Split)
    endings = {"_forward", "_backward"};
  for (StringRef ending : endings)
    if (Operation *taken = SymbolTable::lookupSymbolIn(getOperation(), function.getValue() + ending.str()))
      return taken->emitError("expected no function '") << function << ending << "', which differentiation makes";
  return found;
}

/// Of ops that stand for several, these have the rules.
LogicalResult Grad::expand(func::FuncOp copy) {
  OpPassManager manager(func::FuncOp::getOperationName());
  manager.addPass(createExpandBlocks());
  manager.addPass(createExpandAddNorm());
  return runPipeline(manager, copy);
}

LogicalResult Grad::differentiate() {
  FailureOr<func::FuncOp> found = findFunction();
  if (failed(found))
    return failure();
  FailureOr<SmallVector<unsigned>> arguments = findArguments(*found, wrt);
  if (failed(arguments))
    return failure();
  auto copy = cast<func::FuncOp>(found->clone());
  copy.setSymName(function + (mode == GradMode::Split ? "_forward" : "_value_and_grad"));
  SymbolTable(getOperation()).insert(copy, std::next(Block::iterator(*found)));
  copy.setPublic();
  if (succeeded(inlineCalls(copy)) && succeeded(expand(copy)) &&
      succeeded(::differentiate(copy, function + "_backward", *arguments, mode, save)))
    return success();
  copy.erase();
  return failure();
}
