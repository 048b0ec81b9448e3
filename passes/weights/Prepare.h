// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that a rewrite transforms: constants become new constants, arguments move into a function of their own that
// computes the transformed ones once. Owns that function, @F_prepare, and the signature of F that goes with it.
//
// An argument of F that @F_prepare makes carries `resid.prepared = k : i64`, k being which of its results; one that
// both functions take carries `resid.prepare_input = k : i64`, k being which of its arguments. So a later rewrite of
// F finds what an earlier one has left, and there is one @F_prepare however many rewrites there are.

#ifndef RESID_PASSES_WEIGHTS_PREPARE_H
#define RESID_PASSES_WEIGHTS_PREPARE_H

#include "dialect/FunctionAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/weights/WeightFormula.h"
#include <optional>
#include <string>

namespace mlir::resid {

/// On @F_prepare: the name of F.
constexpr llvm::StringLiteral kPreparesAttribute = "resid.prepares";

/// The functions of a module whose weights can be transformed: those with a body that do not prepare another's.
SmallVector<func::FuncOp> getFunctionsToPrepare(ModuleOp module);

/// The weights of one function while a rewrite transforms them. Use: refuse, compute and put the result in the place
/// of the old weight, any number of times; then finish.
class Preparation {
public:
  explicit Preparation(func::FuncOp function) : function(function) {}

  /// Why these weights cannot be transformed before the function runs ("expected … but got …"), else nothing. A null
  /// value passes.
  std::optional<std::string> refuse(ArrayRef<Value> weights);

  /// The result of the formula, available everywhere in the function: a constant where all weights are constant. Where
  /// weights are slices of stacks, one per layer, it is a slice of the transformed stack, available with their number.
  /// If they are not, and `replaces`, which may be null, is an argument that nothing reads any more when the rewrite is
  /// finished, the result takes its place in the signature; else it becomes a new argument at the end, with the name
  /// `name` or one that begins so.
  Value compute(const WeightFormula &formula, Value replaces, StringRef name);

  /// What `make` makes of an argument of the function, of another type perhaps. Nothing else reads the argument when
  /// the rewrite is finished: the result takes its place in the signature.
  Value convert(BlockArgument weight, function_ref<Value(OpBuilder &)> make);

  /// Another value that `make` of `convert` has made: a new argument at the end, with the name `name` or one that
  /// begins so.
  void append(Value value, StringRef name) { results.push_back({value, Value(), name.str()}); }

  /// For what whoever calls the function makes of `weight`: a new argument of `type` at the end. It is a weight if that
  /// is one; both of its names are that one's and `suffix`, or begin so.
  BlockArgument append(BlockArgument weight, Type type, StringRef suffix);
  /// The ops that read the argument as it was are erased before anything looks at them.
  void changeType(BlockArgument argument, Type type);

  /// The name of a weight for `compute`: that of the argument, else `otherwise`.
  static std::string getName(Value weight, StringRef otherwise);

  /// Moves what `compute` made into @F_prepare and brings both signatures up to date. Arguments that only a transformed
  /// weight was made of leave F.
  void finish();

private:
  struct Result {
    Value value;
    Value replaces;
    std::string name;
    /// Whether it takes the place of what it replaces also where that has another type.
    bool changesType = false;
  };

  /// Where the ops of `compute` stand: before everything else of the function.
  void setInsertionPoint(OpBuilder &builder);
  Value computeSlice(const WeightFormula &formula, Value replaces, StringRef name);
  void eraseDeadOps();
  bool isOwn(Operation *op) const { return ops.contains(op); }
  Operation *getTopLevelOp(Operation *op);
  bool isReadOutside(Value value);
  SmallVector<BlockArgument> getReadArguments();
  func::FuncOp getOrCreatePrepare();
  Value getPrepareInput(func::FuncOp prepare, BlockArgument argument);
  void moveOps(func::FuncOp prepare, ArrayRef<BlockArgument> read);
  std::string getUniqueName(StringRef name);
  BlockArgument appendArgument(Type type, Location loc, StringRef name);
  /// Makes `value` of @F_prepare what `argument` of F stands for.
  void handOver(func::FuncOp prepare, Value value, BlockArgument argument);
  void eraseUnreadArguments(func::FuncOp prepare, ArrayRef<BlockArgument> read);

  func::FuncOp function;
  SetVector<Operation *> ops;
  SmallVector<Result> results;
  /// Slices that were transformed or made, with what asks for their sizes: they alone keep no stack from being
  /// replaced.
  SetVector<Operation *> slices;
};

} // namespace mlir::resid

#endif // RESID_PASSES_WEIGHTS_PREPARE_H
