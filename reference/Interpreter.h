// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of one evaluation and its op handlers, each family in a file of its own. Internal to the evaluator.

#ifndef RESID_REFERENCE_INTERPRETER_H
#define RESID_REFERENCE_INTERPRETER_H

#include "dialect/AddParts.h"
#include "dialect/Contraction.h"
#include "dialect/NormGrad.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "reference/DropoutMask.h"
#include "reference/Evaluator.h"
#include "reference/ScalarProgram.h"

namespace mlir::resid::reference {

/// What a dropout says besides its input.
struct DropoutParameters {
  double p = 0.0;
  int64_t seed = 0, step = 0, site = 0;
  /// The origin and the extent, which is that of a whole tensor where none is given.
  int64_t row = 0, originSite = 0, col = 0, local = 1, global = 1;
};

class CompensatedSum;
struct ParameterTerms;

class Interpreter {
public:
  Interpreter(ModuleOp module, const EvaluationOptions &options) : module(module), options(options) {}

  FailureOr<SmallVector<Array>> call(func::FuncOp function, ArrayRef<Array> arguments);

private:
  using Results = FailureOr<SmallVector<Array>>;
  using Frame = DenseMap<Value, Array>;

  // Control flow (Evaluator.cpp).
  Results runBlock(Block &block, ArrayRef<Array> arguments);
  LogicalResult run(Operation &op);
  Results dispatch(Operation &op);
  Results evaluate(scf::ForOp op);
  Results evaluate(scf::IfOp op);
  Results evaluate(cf::AssertOp op);
  // Regions.cpp.
  Results evaluate(scf::IndexSwitchOp op);
  Results evaluate(scf::ExecuteRegionOp op);
  Results evaluate(scf::ForallOp op);
  Results evaluate(scf::ParallelOp op);
  Results evaluate(func::CallOp op);
  Results evaluateConstant(Operation &op);
  Results evaluateGlobal(Operation &op, SymbolRefAttr symbol);
  Results evaluateScalarOp(Operation &op);
  /// An op whose results are scalars of any number, as a program of its own.
  Results evaluateAlone(Operation &op);
  Results evaluate(bufferization::AllocTensorOp op);
  LogicalResult checkResult(Operation &op, OpResult result, Array &value);

  // Residual.cpp, Norm.cpp: null results for ops of other families.
  Results evaluateResid(Operation &op);
  FailureOr<Array> add(Operation *op, const Array &x, const Array &f, const AddParts &parts, Type resultType);
  FailureOr<Array> addBias(Operation *op, const Array &f, const Array &bias);
  /// The values of the operands beside the attributes.
  DropoutParameters getDropoutParameters(double p, uint64_t site, Value seed, Value step,
                                         const DropoutOrigin &origin) const;
  /// The mask of so many rows and columns, with a scale for `arithmetic`; counters that do not fit are diagnosed.
  FailureOr<DropoutMask> getDropoutMask(Operation *op, const DropoutParameters &parameters, int64_t rows,
                                        int64_t columns, FloatKind arithmetic) const;
  FailureOr<Array> dropout(Operation *op, const Array &x, const DropoutParameters &parameters);
  Results norm(Operation *op, const Array &x, const NormParts &parts, TypeRange resultTypes);
  Results evaluate(AddNormOp op);
  // Grad.cpp.
  Results normGrad(Operation *op, const NormGradParts &parts);
  /// The gradient of a parameter: the sums, rounded to the arithmetic type and then to that of `parameter`.
  Array finishParameter(Array parameter, const ParameterTerms &terms, FloatKind arithmetic, bool isTainted) const;
  /// Notes how far a compiled result may be from this one.
  void judge(Array &result, std::vector<double> allowed, bool isTainted) const;
  // ScalarGrad.cpp.
  FailureOr<Array> gateGrad(GateGradOp op, const Array &dy, const Array &f);
  Results evaluate(DyTGradOp op);
  // BatchNorm.cpp.
  Results evaluate(BatchNormOp op);
  Results evaluate(BatchNormGradOp op);
  // AttentionGrad.cpp.
  Results evaluate(AttentionGradOp op);
  // Tokens.cpp.
  Results evaluate(CrossEntropyOp op);
  FailureOr<Array> evaluate(CrossEntropyGradOp op);
  FailureOr<Array> evaluate(EmbeddingOp op);
  FailureOr<Array> evaluate(EmbeddingGradOp op);
  // Streams.cpp: the formulas of resid.read and resid.write for whichever op states them; null operands are not there.
  FailureOr<Array> read(Operation *op, const Array &x, Value weights, double scale, Type resultType);
  FailureOr<Array> write(Operation *op, const Array &x, const Array &y, Value weights, Value mix, bool isTransposed,
                         Type resultType);
  Results evaluate(ProjectOp op);
  FailureOr<Array> evaluate(StreamDotsOp op);
  /// The iterations, or where `gradient` is given, what becomes of it.
  FailureOr<Array> sinkhorn(Operation *op, const Array &logits, const Array &gradient, int64_t iterations,
                            double epsilon);
  // Quantize.cpp.
  Results evaluate(QuantizeOp op);
  FailureOr<Array> evaluate(DequantizeOp op);
  // SubLayers.cpp.
  FailureOr<Array> activation(ActivationOp op, const Array &x, const Array &up);
  FailureOr<Array> rotary(RotaryOp op, const Array &x, const Array &cos, const Array &sin);

  // Block.cpp: the parts of a sub-layer, which hand a failure on, and what its placement makes of them.
  FailureOr<Array> evaluateNormOf(BlockOp op, unsigned index, FailureOr<Array> x, Type resultType);
  FailureOr<Array> evaluateBranchOf(BlockOp op, FailureOr<Array> input);
  FailureOr<Array> evaluateReadOf(BlockOp op, FailureOr<Array> x);
  FailureOr<Array> evaluateResidualOf(BlockOp op, FailureOr<Array> x, FailureOr<Array> f);
  FailureOr<Array> evaluate(BlockOp op);

  // Attention.cpp.
  Results evaluate(AttentionOp op);
  Results evaluate(AppendOp op);

  // TensorOps.cpp, Linalg.cpp, Contraction.cpp.
  Results evaluateTensorOp(Operation &op);
  Results evaluate(tensor::SplatOp op);
  /// A body of scalar operations; where it is not supported, that is said.
  FailureOr<ScalarProgram> compileBody(Block &body);
  /// What a body over indices gives for each element of a tensor.
  FailureOr<Array> generate(Operation *op, Block &body, RankedTensorType type, ArrayRef<int64_t> shape);
  Results evaluate(tensor::ExtractOp op);
  Results evaluate(tensor::InsertOp op);
  Results evaluate(tensor::ConcatOp op);
  Results evaluate(tensor::PadOp op);
  Results evaluate(tensor::GenerateOp op);
  Results evaluate(tensor::ExtractSliceOp op);
  Results evaluate(tensor::InsertSliceOp op);
  FailureOr<Array> insertSlice(OffsetSizeAndStrideOpInterface op, Value inserted, Array result,
                               const llvm::SmallBitVector &dropped);
  Results evaluate(tensor::ExpandShapeOp op);
  Results evaluate(tensor::CollapseShapeOp op);
  Results evaluate(tensor::ReshapeOp op);
  FailureOr<int64_t> linearOffset(Operation *op, const Array &array, ValueRange indices);
  Results evaluateLinalg(linalg::LinalgOp op);
  Results evaluateContraction(Contraction contraction);
  FailureOr<Array> linear(LinearOp op, const Array &x, const Array &weight, const Array &bias);
  FailureOr<Array> quantizedLinear(LinearOp op, const Array &x, const Array &weight, const Array &bias);
  /// The floats that a weight of integers stands for.
  FailureOr<Array> weightOf(LinearOp op, const Array &integers);
  Results evaluate(linalg::SoftmaxOp op);
  /// The loops' sizes from the operands' shapes; operands whose sizes disagree are diagnosed.
  FailureOr<SmallVector<int64_t>> getLoopSizes(linalg::LinalgOp op) const;
  // Relayout.cpp.
  Results evaluate(linalg::PackOp op);
  Results evaluate(linalg::UnPackOp op);
  // Lookups.cpp.
  Results evaluate(tensor::GatherOp op);
  Results evaluate(tensor::ScatterOp op);
  void finishColumnSum(Array &array, ArrayRef<CompensatedSum> sums, ArrayRef<double> magnitudes, bool isExact);

  const Array &get(Value value) const { return frame->find(value)->second; }
  /// The value of an optional operand, a null array where it is absent.
  Array getOptional(Value value) const { return value ? get(value) : Array(); }
  int64_t getInteger(OpFoldResult value) const;
  SmallVector<int64_t> getIntegers(ArrayRef<OpFoldResult> values) const;
  /// The sizes of a result type whose dynamic ones are `dynamic`; a negative size is diagnosed.
  FailureOr<SmallVector<int64_t>> getSizes(Operation *op, RankedTensorType type, ValueRange dynamic) const;

  bool isExactMode() const { return options.mode == Mode::ExactType; }
  double round(FloatKind kind, double value) const { return isExactMode() ? roundTo(kind, value) : value; }
  InFlightDiagnostic unsupported(Operation *op);

  ModuleOp module;
  const EvaluationOptions &options;
  Frame *frame = nullptr;
  int depth = 0;
};

/// Accuracy of everything that is judged by tolerances.
std::shared_ptr<const Accuracy> getToleranceAccuracy();

/// Whether the compiled value of one of these may differ from the evaluator's.
inline bool isAnyTainted(ArrayRef<Array> arrays) {
  return llvm::any_of(arrays, [](const Array &array) { return array && array.getAccuracy(); });
}

/// For each dimension of `shape` the stride with which NumPy broadcasting walks through `array`: 0 along a dimension of
/// size 1. `staticShape` says which of them are static, since only these broadcast.
FailureOr<SmallVector<int64_t>> getBroadcastStrides(Operation *op, StringRef what, const Array &array,
                                                    ArrayRef<int64_t> shape, ArrayRef<int64_t> staticShape);

/// A sum in twice the precision of double (Knuth's two-sum with a running correction): plain sums of 65,536 terms at a
/// mean of 1e6 standard deviations would not be good enough to judge float64 norms by.
class CompensatedSum {
public:
  void add(double value) {
    double sum = high + value;
    double added = sum - high;
    low += (high - (sum - added)) + (value - added);
    high = sum;
  }
  /// Infinities and NaNs stand in the high part alone.
  double value() const { return std::isfinite(high) ? high + low : high; }
  double high = 0.0, low = 0.0;
};

} // namespace mlir::resid::reference

#endif
