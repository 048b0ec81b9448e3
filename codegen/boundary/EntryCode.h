// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C function under construction: blocks of checks, each of which leaves with a status. Does not own what is checked.

#ifndef RESID_CODEGEN_BOUNDARY_ENTRYCODE_H
#define RESID_CODEGEN_BOUNDARY_ENTRYCODE_H

#include "codegen/boundary/RefusalText.h"
#include "codegen/boundary/Signature.h"
#include "codegen/builder/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/resid.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::resid::boundary {

/// A parameter of a C function as a value in it.
struct EntryParameter {
  Value value;             // pointer or scalar
  const KernelValue *type; // what it stands for
  Value stride = {};       // of a strided array: the distance of its rows in elements
};

/// The words that describe a call: the addresses of its arrays, arguments first; then its sizes; then its row strides.
struct ParameterWords {
  explicit ParameterWords(const KernelSignature &signature);

  unsigned addresses = 0, sizes = 0, strides = 0;
  unsigned count() const { return addresses + sizes + strides; }
  /// Whether they are few enough for the stack; else a refusal does not name what it is about.
  bool fitStack() const { return count() <= 5120; }
};

/// After the name of F: the function to which it goes where arrays or sizes are refused. It takes the context, the
/// status and the words of ParameterWords (ArrayRefusals.cpp).
constexpr llvm::StringLiteral kRefuseArraysSuffix = ".refuse_arrays";
/// After the name of F: the same for all else. It takes the context, a packed refusal, and a value (i64).
constexpr llvm::StringLiteral kRefuseValueSuffix = ".refuse_value";
/// The function of an object that hands a line to the log and answers a status (shared/Refuse.c).
constexpr llvm::StringLiteral kRefuseName = "resid.refuse";
/// What a processor has to have, as text; its contents come when the module is LLVM's.
constexpr llvm::StringLiteral kProcessorsName = "resid.processors";

/// A function's blocks that refuse are built by who began it.
struct EntryCode : Code {
  EntryCode(Operation *place, const KernelSignature &signature)
      : Code(OpBuilder(place), place->getLoc()), signature(signature),
        pointerType(LLVM::LLVMPointerType::get(place->getContext())), module(place->getParentOfType<ModuleOp>()) {}

  /// Makes `entry`, a function of this type that answers an i32, and goes to its first block.
  void begin(StringRef name, FunctionType type);
  /// Goes to `refuse` with this status where `condition` is true.
  void refuseIf(Value condition, resid_status status);
  /// Goes to `block`, which takes nothing, where `condition` is true.
  void branchIf(Value condition, Block *block);
  /// Answers what is packed (RefusalText.h) where `condition` is true, and tells the text, in which `value` (i64, or
  /// null) has the number 0.
  void refuseValueIf(Value condition, int32_t refusal, const RefusalText &text, Value value = nullptr);
  /// Calls F's function that refuses all but arrays, and gives the status.
  Value emitValueRefusal(Value refusal, Value value);
  /// Builds that function, of the refusals that refuseValueIf() and addRefusal() named.
  void buildValueRefusals();
  void addRefusal(int32_t refusal, const RefusalText &text) { valueRefusals.insert({refusal, text}); }
  /// The address of the text of kProcessorsName.
  Value emitProcessors();
  /// A function after the name of F that answers a status. Its body is built once, by beginRefusalFunction().
  func::FuncOp getRefusalFunction(StringRef suffix, TypeRange types);
  void beginRefusalFunction(func::FuncOp function);
  /// Hands the text to the log and gives the status; `values` are i64 or addresses.
  Value emitRefusal(Value refusal, const RefusalText &text, ArrayRef<Value> values = {});
  Value emitRefusal(Value refusal, Value text, ArrayRef<Value> values);

  /// Words of the stack; null where there are none.
  Value allocateWords(int64_t count);
  /// Stores an i64 or an address.
  void storeWord(Value value, Value words, int64_t index);
  Value loadWord(Value words, int64_t index);
  /// The address of a word.
  Value getWord(Value words, int64_t index);
  /// A constant of the module; gives its name.
  std::string addConstant(Type type, Attribute value);
  Value addText(StringRef bytes);
  /// Calls a function of shared/, on i64, i32 and addresses; `result` is null where it gives nothing.
  Value callShared(StringRef name, ArrayRef<Value> operands, Type result);
  /// Refuses arrays, and ends the block. `sizes`: one per size parameter.
  void emitArrayRefusal(ValueRange sizes, Value status);
  /// Stores the addresses of arrays among the words.
  void storeAddresses();
  Block *addBlock() { return entry.addBlock(); }

  Value constant32(int32_t value) { return constant(getI32Type(), value); }
  Value isNull(Value pointer) {
    return create<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, pointer, create<LLVM::ZeroOp>(pointerType));
  }

  const KernelSignature &signature;
  Type pointerType;
  ModuleOp module;
  func::FuncOp entry;
  Value context;
  SmallVector<EntryParameter> arguments, results;
  /// Room for ParameterWords, and whether the addresses of arrays are stored there; null where they are too many.
  Value words;
  bool hasAddresses = false;
  /// Where arrays are refused before anything is known of their sizes; its argument is the status.
  Block *refuse = nullptr;
  /// Where arrays of good sizes are refused for their overlap.
  Block *refuseOverlap = nullptr;
  llvm::MapVector<int32_t, RefusalText> valueRefusals;
  llvm::StringMap<std::string> texts; // the names of their constants
  unsigned constants = 0;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_ENTRYCODE_H
