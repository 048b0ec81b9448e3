// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The evaluator's entry, control flow and the dispatch of ops to their families.

#include "reference/Evaluator.h"
#include "dialect/QuantizedResult.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "reference/Interpreter.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::resid::reference {

/// Deep enough for programs of people, shallow enough for the stack.
static constexpr int maxCallDepth = 256;

std::shared_ptr<const Accuracy> getToleranceAccuracy() {
  static const auto tolerance = std::make_shared<const Accuracy>(Accuracy{Accuracy::Tolerance, {}});
  return tolerance;
}

InFlightDiagnostic Interpreter::unsupported(Operation *op) {
  if (options.unsupported)
    *options.unsupported = true;
  return op->emitOpError("is not supported by the reference evaluator");
}

int64_t Interpreter::getInteger(OpFoldResult value) const {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  return get(cast<Value>(value)).asInteger();
}

SmallVector<int64_t> Interpreter::getIntegers(ArrayRef<OpFoldResult> values) const {
  return llvm::map_to_vector(values, [&](OpFoldResult value) { return getInteger(value); });
}

FailureOr<SmallVector<int64_t>> Interpreter::getSizes(Operation *op, RankedTensorType type, ValueRange dynamic) const {
  SmallVector<int64_t> sizes(type.getShape());
  for (int64_t &size : sizes) {
    if (ShapedType::isDynamic(size)) {
      size = get(dynamic.front()).asInteger();
      dynamic = dynamic.drop_front();
    }
    if (size < 0)
      return op->emitOpError() << "expected sizes of 0 or more but got " << size;
  }
  return sizes;
}

/// Static sizes of the type must be those of the value. The value takes on the type's kind of array.
LogicalResult Interpreter::checkResult(Operation &op, OpResult result, Array &value) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type)
    return success();
  if (type.getRank() == value.getRank() && llvm::all_of(llvm::zip(type.getShape(), value.getShape()), [](auto pair) {
        return ShapedType::isDynamic(std::get<0>(pair)) || std::get<0>(pair) == std::get<1>(pair);
      }))
    return success();
  return op.emitOpError() << "expected a result of type " << type << " but got " << describe(value);
}

Interpreter::Results Interpreter::evaluateConstant(Operation &op) {
  Array value = Array::fromAttribute(cast<arith::ConstantOp>(op).getValue());
  if (value)
    return SmallVector<Array>{value};
  if (isa<DenseResourceElementsAttr>(cast<arith::ConstantOp>(op).getValue()))
    return op.emitOpError("expected the values of the constant, but the file has no bytes for its resource");
  return LogicalResult(unsupported(&op));
}

/// What a global holds as long as nothing is stored to it; stores are not supported.
Interpreter::Results Interpreter::evaluateGlobal(Operation &op, SymbolRefAttr symbol) {
  auto global = SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(&op, symbol);
  auto value = global ? dyn_cast_or_null<TypedAttr>(global.getValueAttr()) : TypedAttr();
  Array array = value ? Array::fromAttribute(value) : Array();
  if (!array)
    return LogicalResult(unsupported(&op));
  return SmallVector<Array>{array};
}

/// arith and math ops on scalars and element by element on tensors.
Interpreter::Results Interpreter::evaluateScalarOp(Operation &op) {
  SmallVector<Array> operands = llvm::map_to_vector(op.getOperands(), [&](Value v) { return get(v); });
  ArrayRef<int64_t> shape;
  for (const Array &operand : operands) {
    if (!operand.isTensor())
      continue;
    if (!shape.empty() && shape != operand.getShape())
      return op.emitOpError() << "expected operands of one shape but got " << describe(operands.front()) << " and "
                              << describe(operand);
    shape = operand.getShape();
  }
  SmallVector<Array> results;
  for (OpResult value : op.getResults()) {
    Instruction instruction;
    if (op.getNumRegions() || failed(selectInstruction(&op, value.getResultNumber(), options.mode, instruction)))
      return LogicalResult(unsupported(&op));
    FailureOr<Array> result = evaluateElementwise(value, instruction, operands, shape);
    if (failed(result))
      return failure();
    if (instruction.units != 0.0)
      result->setAccuracy(options.trackAccuracy && isExactMode() ? getAccuracyInUnits(*result, instruction.units)
                                                                 : getToleranceAccuracy());
    results.push_back(*result);
  }
  return results;
}

Interpreter::Results Interpreter::evaluateAlone(Operation &op) {
  FailureOr<ScalarProgram> program =
      ScalarProgram::compile(op, options.mode, [&](Value value) -> const Array & { return get(value); });
  if (failed(program))
    return failure();
  Machine machine = program->start();
  program->run(machine);
  if (machine.fault)
    return op.emitOpError() << "meets " << machine.fault;
  return llvm::map_to_vector(op.getResults(), [&](Value result) {
    return Array::scalar(result.getType(), machine.registers[program->registerOf(result)].integer);
  });
}

/// Without a copy the elements are any numbers; 0 stands for them, as for those of tensor.empty.
Interpreter::Results Interpreter::evaluate(bufferization::AllocTensorOp op) {
  if (op.getCopy())
    return SmallVector<Array>{get(op.getCopy())};
  FailureOr<SmallVector<int64_t>> shape = getSizes(op, op.getType(), op.getDynamicSizes());
  if (failed(shape))
    return failure();
  return SmallVector<Array>{Array::zeros(op.getType(), *shape)};
}

Interpreter::Results Interpreter::evaluate(scf::ForOp op) {
  int64_t lower = get(op.getLowerBound()).asInteger(), upper = get(op.getUpperBound()).asInteger();
  int64_t step = get(op.getStep()).asInteger();
  if (step <= 0)
    return op.emitOpError() << "expected a step of 1 or more but got " << step;
  SmallVector<Array> carried = llvm::map_to_vector(op.getInitArgs(), [&](Value v) { return get(v); });
  for (int64_t i = lower; i < upper; i += step) {
    carried.insert(carried.begin(), Array::scalar(op.getInductionVar().getType(), i));
    Results next = runBlock(*op.getBody(), carried);
    if (failed(next))
      return failure();
    carried = std::move(*next);
    if (upper - i <= step)
      break;
  }
  return carried;
}

Interpreter::Results Interpreter::evaluate(scf::IfOp op) {
  Region &region = get(op.getCondition()).asInteger() ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return SmallVector<Array>();
  return runBlock(region.front(), {});
}

Interpreter::Results Interpreter::evaluate(cf::AssertOp op) {
  if (!get(op.getArg()).asInteger())
    return op.emitOpError() << "expected the assertion to hold, but it failed: " << op.getMsg();
  return SmallVector<Array>();
}

Interpreter::Results Interpreter::evaluate(func::CallOp op) {
  auto callee = module.lookupSymbol<func::FuncOp>(op.getCallee());
  if (!callee || callee.isExternal())
    return op.emitOpError() << "expected a function with a body but got '" << op.getCallee() << "'";
  if (depth == maxCallDepth)
    return op.emitOpError() << "expected calls to nest at most " << maxCallDepth << " deep, but they nest deeper";
  SmallVector<Array> arguments = llvm::map_to_vector(op.getOperands(), [&](Value v) { return get(v); });
  return call(callee, arguments);
}

Interpreter::Results Interpreter::dispatch(Operation &op) {
  if (hasQuantizedResult(&op))
    return op.emitOpError() << "expected a result of floats (resid-expand-quantized-results makes it so), but got "
                            << op.getResult(0).getType();
  if (isa<ResidDialect>(op.getDialect()))
    return evaluateResid(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return evaluateLinalg(structured);
  return llvm::TypeSwitch<Operation *, Results>(&op)
      .Case<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, scf::ForallOp, scf::ParallelOp,
            bufferization::AllocTensorOp, cf::AssertOp, func::CallOp, linalg::SoftmaxOp, linalg::PackOp,
            linalg::UnPackOp>([&](auto known) { return evaluate(known); })
      .Case([&](bufferization::DeallocTensorOp) { return SmallVector<Array>(); })
      .Case([&](bufferization::MaterializeInDestinationOp op) -> Results {
        if (op->getNumResults() == 0)
          return LogicalResult(unsupported(op));
        return SmallVector<Array>{get(op.getSource())};
      })
      .Case([&](arith::ConstantOp) { return evaluateConstant(op); })
      .Case<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(
          [&](auto load) { return evaluateGlobal(op, load.getGlobal()); })
      .Default([&](Operation *) -> Results {
        if (isa_and_present<tensor::TensorDialect>(op.getDialect()))
          return evaluateTensorOp(op);
        if (isa_and_present<affine::AffineDialect, index::IndexDialect>(op.getDialect()))
          return evaluateAlone(op);
        return evaluateScalarOp(op);
      });
}

/// Whether an op only moves elements, or widens them: what it gives is then as exact in wide mode as what it takes.
static bool onlyMoves(Operation &op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return llvm::all_of(structured.getBlock()->without_terminator(), llvm::IsaPred<arith::ExtFOp>);
  return isa<arith::ConstantOp, arith::ExtFOp, AppendOp>(op) ||
         (isa_and_present<tensor::TensorDialect>(op.getDialect()) && !isa<tensor::GenerateOp>(op));
}

/// In wide mode, whether compiled code rounds a result that is not rounded here. Contractions and attention know by how
/// much.
static bool skipsRounding(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool isBounded = isa<AttentionOp, LinearOp>(op) || (structured && matchContraction(structured));
  return !onlyMoves(op) && !isBounded &&
         llvm::any_of(op.getResultTypes(), [](Type type) { return getFloatKind(getElementTypeOrSelf(type)); });
}

/// Whether users wrote a fused multiply-add that no bound speaks of.
static bool hasOwnFMA(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!isa<math::FmaOp, tensor::GenerateOp>(op) && (!structured || matchContraction(structured)))
    return false;
  return op.walk([](math::FmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

LogicalResult Interpreter::run(Operation &op) {
  Results results = dispatch(op);
  if (failed(results))
    return failure();
  // Norms set accuracies of their own, calls and regions hand on those of what they return, and reshapes move nothing.
  // Whatever else came from an inexact value is judged by tolerances.
  bool handsOn = isa<func::CallOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, tensor::CastOp,
                     tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::DimOp, tensor::RankOp>(op) ||
                 (isExactMode() && isa<BlockOp>(op));
  // The bound of a backward knows by how much its forward's statistics are off.
  auto isInexact = [&](OpOperand &operand) {
    auto backward = dyn_cast<AttentionGradOp>(op);
    bool isStatistic = backward && operand.get().getDefiningOp<AttentionOp>() &&
                       llvm::is_contained({backward.getMax(), backward.getSum()}, operand.get());
    return !isStatistic && get(operand.get()).getAccuracy() != nullptr;
  };
  bool tainted = !handsOn && ((!isExactMode() && skipsRounding(op)) || (!options.hasFMA && hasOwnFMA(op)) ||
                              llvm::any_of(op.getOpOperands(), isInexact));
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results)) {
    if (failed(checkResult(op, result, value)))
      return failure();
    if (tainted)
      value.setAccuracy(getToleranceAccuracy());
    (*frame)[result] = value;
  }
  return success();
}

Interpreter::Results Interpreter::runBlock(Block &block, ArrayRef<Array> arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    (*frame)[argument] = value;
  for (Operation &op : block.without_terminator())
    if (failed(run(op)))
      return failure();
  return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value v) { return get(v); });
}

Interpreter::Results Interpreter::call(func::FuncOp function, ArrayRef<Array> arguments) {
  if (!function.getBody().hasOneBlock())
    return LogicalResult(function.emitOpError("expected one block, because the evaluator follows no branches, but got ")
                         << function.getBody().getBlocks().size());
  Frame own;
  Frame *caller = std::exchange(frame, &own);
  ++depth;
  llvm::scope_exit leave([&] { frame = caller, --depth; });
  return runBlock(function.getBody().front(), arguments);
}

/// The arguments must fit the signature, and equal values of it may not be assumed: dynamic sizes are checked by the
/// ops.
static LogicalResult checkArguments(func::FuncOp function, ArrayRef<Array> arguments) {
  if (function.getNumArguments() != arguments.size())
    return function.emitOpError() << "expected " << function.getNumArguments() << " arguments but got "
                                  << arguments.size();
  for (auto [index, type, value] : llvm::enumerate(function.getArgumentTypes(), arguments)) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    bool fits = getElementTypeOrSelf(type) == value.getElementType() && (tensorType != nullptr) == value.isTensor();
    if (fits && tensorType)
      fits = tensorType.getRank() == value.getRank() &&
             llvm::all_of(llvm::zip(tensorType.getShape(), value.getShape()), [](auto pair) {
               return ShapedType::isDynamic(std::get<0>(pair)) || std::get<0>(pair) == std::get<1>(pair);
             });
    if (!fits)
      return function.emitOpError() << "expected argument " << index << " of type " << type << " but got "
                                    << describe(value);
  }
  return success();
}

/// In wide mode the only rounding is here.
static void roundResults(MutableArrayRef<Array> results) {
  for (Array &result : results)
    if (result.isFloat())
      for (double &value : result.mutableFloats())
        value = roundTo(result.floatKind(), value);
}

FailureOr<SmallVector<Array>> evaluate(func::FuncOp function, ArrayRef<Array> arguments,
                                       const EvaluationOptions &options) {
  if (function.isExternal())
    return function.emitOpError("expected a function with a body");
  if (failed(checkArguments(function, arguments)))
    return failure();
  Interpreter interpreter(function->getParentOfType<ModuleOp>(), options);
  FailureOr<SmallVector<Array>> results = interpreter.call(function, arguments);
  if (succeeded(results) && options.mode == Mode::Wide)
    roundResults(*results);
  return results;
}

} // namespace mlir::resid::reference
