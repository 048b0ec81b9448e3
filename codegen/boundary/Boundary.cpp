// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/Boundary.h"

#include "codegen/boundary/EntryCode.h"
#include "codegen/boundary/Passes.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

SmallVector<unsigned> boundary::getPassedSizes(const KernelSignature &signature) {
  unsigned count = signature.sizes.size() + signature.derivedSizes.size();
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, count), [&](unsigned index) {
    int64_t code = -1 - int64_t(index);
    return signature.getSharedSize(code) == code;
  });
}

bool boundary::answersStatus(func::FuncOp implementation) {
  ArrayRef<Type> types = implementation.getArgumentTypes();
  return !types.empty() && isa<MemRefType>(types.back());
}

namespace {

class BoundaryBuilder {
public:
  BoundaryBuilder(func::FuncOp function, const KernelSignature &signature)
      : function(function), body(function.getBody().front()), signature(signature),
        builder(OpBuilder::atBlockBegin(&body)), loc(function.getLoc()),
        pointerType(LLVM::LLVMPointerType::get(function.getContext())) {}

  void run();

private:
  BlockArgument add(Type type) { return body.addArgument(type, loc); }
  void addValues();
  void addScratch(BlockArgument scratch);
  /// Replaces a buffer and the questions for its sizes.
  void replaceBuffer(BlockArgument buffer, Value pointer, ValueRange shape, Value rowStride = nullptr);
  Value getSize(int64_t code);
  bool sharesBuffer(unsigned result) const {
    return llvm::any_of(signature.inPlace, [&](auto pair) { return pair.first == result; });
  }
  Value toIndex(Value number) { return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number); }

  func::FuncOp function;
  Block &body;
  const KernelSignature &signature;
  OpBuilder builder;
  Location loc;
  Type pointerType;
  /// What overlaps no other argument: scratch memory, and results that may share no argument's buffer. Calls in which
  /// they overlap others are refused.
  SmallVector<BlockArgument> ownPointers;
  /// As indices, by the codes of sizes.
  llvm::SmallDenseMap<int64_t, Value> sizes;
};

} // namespace

Value BoundaryBuilder::getSize(int64_t code) {
  int64_t shared = signature.getSharedSize(code);
  return shared < 0 ? sizes.lookup(shared) : Value(arith::ConstantIndexOp::create(builder, loc, shared));
}

void BoundaryBuilder::replaceBuffer(BlockArgument buffer, Value pointer, ValueRange shape, Value rowStride) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> open;
  for (auto [dimension, size] : llvm::enumerate(shape))
    if (type.isDynamicDim(dimension))
      open.push_back(size);
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
    if (auto dim = dyn_cast<memref::DimOp>(user)) {
      std::optional<int64_t> index = dim.getConstantIndex();
      if (!index || *index < 0 || *index >= type.getRank())
        continue;
      dim.getResult().replaceAllUsesWith(shape[*index]);
      dim.erase();
    }
  if (!buffer.use_empty())
    buffer.replaceAllUsesWith(kernels::createArgumentBuffer(builder, loc, type, pointer, open, rowStride));
}

void BoundaryBuilder::addValues() {
  SmallVector<std::pair<Value, Value>> passed; // a pointer or scalar, and a row stride
  auto values = llvm::to_vector(llvm::map_range(llvm::concat<const KernelValue>(signature.arguments, signature.results),
                                                [](const KernelValue &value) { return &value; }));
  for (auto [index, value] : llvm::enumerate(values)) {
    BlockArgument first = add(value->isArray() ? pointerType : value->type);
    passed.push_back({first, value->isStrided() ? add(builder.getI64Type()) : Value()});
    if (index >= signature.arguments.size() && !sharesBuffer(index - signature.arguments.size()))
      ownPointers.push_back(first);
  }
  for (unsigned index : getPassedSizes(signature))
    sizes[-1 - int64_t(index)] = toIndex(add(builder.getI64Type()));
  for (auto [index, value] : llvm::enumerate(values)) {
    BlockArgument old = body.getArgument(1 + index);
    if (!value->isArray()) {
      old.replaceAllUsesWith(passed[index].first);
      continue;
    }
    auto shape = llvm::map_to_vector(value->shape, [&](int64_t code) { return getSize(code); });
    replaceBuffer(old, passed[index].first, shape, passed[index].second);
  }
}

void BoundaryBuilder::addScratch(BlockArgument scratch) {
  ownPointers.push_back(add(pointerType));
  replaceBuffer(scratch, ownPointers.back(), toIndex(add(builder.getI64Type())));
}

void BoundaryBuilder::run() {
  unsigned count = body.getNumArguments();
  body.getArgument(0).replaceAllUsesWith(add(pointerType));
  addValues();
  if (function->hasAttr(kScratchAttribute))
    addScratch(body.getArgument(count - 2));
  BlockArgument status = body.getArgument(count - 1);
  bool isAnswered = signature.isForDevice;
  function.walk([&](rows::RequireOp) { isAnswered = true; });
  if (isAnswered || !status.use_empty())
    status.replaceAllUsesWith(add(status.getType()));
  body.eraseArguments(0, count);
  function->removeAttr(function.getArgAttrsAttrName());
  function.setFunctionType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
  for (BlockArgument pointer : ownPointers)
    function.setArgAttr(pointer.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
}

void boundary::narrowBoundary(func::FuncOp implementation, const KernelSignature &signature) {
  BoundaryBuilder(implementation, signature).run();
}
