// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C function under construction: blocks of checks, each of which leaves with a status. Does not own what is checked.

#ifndef RESID_CODEGEN_BOUNDARY_ENTRYCODE_H
#define RESID_CODEGEN_BOUNDARY_ENTRYCODE_H

#include "codegen/boundary/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "runtime/resid.h"

namespace mlir::resid::boundary {

/// The values of resid_status that checks answer.
enum Status : resid_status {
  BadPointer = RESID_BAD_POINTER,
  BadShape = RESID_BAD_SHAPE,
  Alias = RESID_ALIAS,
  Unsupported = RESID_UNSUPPORTED,
  OutOfMemory = RESID_OOM,
  Version = RESID_VERSION,
};

/// A parameter of a C function as a value in it.
struct EntryParameter {
  Value value;             // pointer or scalar
  const KernelValue *type; // what it stands for
  Value stride = {};       // of a strided array: the distance of its rows in elements
};

/// A function's blocks that refuse are built by who began it.
struct EntryCode {
  EntryCode(Operation *place, const KernelSignature &signature)
      : signature(signature), builder(place), loc(place->getLoc()),
        pointerType(LLVM::LLVMPointerType::get(place->getContext())) {}

  /// Makes `entry`, a function of this type that answers an i32, and goes to its first block.
  void begin(StringRef name, FunctionType type);
  /// Goes to `refuse` with this status where `condition` is true.
  void refuseIf(Value condition, Status status);
  /// Goes to `block`, which takes nothing, where `condition` is true.
  void branchIf(Value condition, Block *block);
  /// Refuses as packed (RefusalProgram.h) where `condition` is true; `value` (i64) may be null.
  void refuseValueIf(Value condition, int32_t refusal, Value value = nullptr);
  /// Calls the function that refuses all but arrays, and gives the status.
  Value emitValueRefusal(Value refusal, Value value);
  /// Refuses arrays, and ends the block. `sizes`: one per size parameter.
  void emitArrayRefusal(ValueRange sizes, Value status);
  LLVM::LLVMFuncOp getRefusalFunction(StringRef suffix, TypeRange types);
  Block *addBlock() { return entry.addBlock(); }

  Value constant32(int32_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); }
  Value isNull(Value pointer) {
    Value null = LLVM::ZeroOp::create(builder, loc, pointerType);
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, pointer, null);
  }
  Value toInteger(Value pointer) { return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer); }

  const KernelSignature &signature;
  OpBuilder builder;
  Location loc;
  Type pointerType;
  func::FuncOp entry;
  Value context;
  SmallVector<EntryParameter> arguments, results;
  /// Where arrays are refused before anything is known of their sizes; its argument is the status.
  Block *refuse = nullptr;
  /// Where arrays of good sizes are refused for their overlap.
  Block *refuseOverlap = nullptr;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ENTRYCODE_H
