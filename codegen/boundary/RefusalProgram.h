// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that resid.refuse (Refuse.ll) runs to say why a call was refused: bytes in an object, which look again
// at what the checks looked at. Does not own which status is answered: that is the checks' (ArrayChecks.h).

#ifndef RESID_CODEGEN_BOUNDARY_REFUSALPROGRAM_H
#define RESID_CODEGEN_BOUNDARY_REFUSALPROGRAM_H

#include "codegen/boundary/Signature.h"
#include "runtime/resid.h"

namespace mlir::resid::boundary {

/// What is wrong, beside the status, where the status alone does not say it.
enum Reason : uint8_t {
  // Of F.
  NoReason,
  ScratchTooLarge,
  NoAllocHook,
  NoFreeHook,
  NoMemory,
  // Of F_dl; resid_dl_read (DLPackRead.ll) answers these, with what was found and expected in the first two words.
  NullTensor, // 5
  OtherDevice,
  OtherType,
  OtherRank,
  NullShape,
  OtherSize,
  OtherStride,
  NullScalar,
  OtherCount,
  NullTensors,
  // Of a condition (rows.require); the detail is its number among KernelSignature::checks.
  FailedCheck,
  // Of F again.
  NullWeights,
};
static_assert(NullTensor == 5 && OtherStride == 11, "expected the numbers in DLPackRead.ll");

/// A status, a reason and a detail (the number of a value check or of a dimension) in one word.
constexpr int32_t packRefusal(resid_status status, Reason reason = NoReason, unsigned detail = 0) {
  return int32_t((uint32_t(status) & 0xff) | uint32_t(reason) << 8 | uint32_t(detail) << 16);
}

/// Bytes for resid.refuse: text as it is, and operations below 32.
class RefusalProgram {
public:
  /// Strings that the program prints in several places, by string(); before all else, since the program jumps over
  /// them.
  SmallVector<unsigned> addStrings(ArrayRef<std::string> strings);

  RefusalProgram &text(llvm::StringRef text);
  RefusalProgram &string(unsigned place) { return add(8).add16(place); }
  RefusalProgram &constant(int64_t value);
  RefusalProgram &word(unsigned index) { return add(2).add16(index); }
  RefusalProgram &value() { return add(3); }
  RefusalProgram &status() { return add(4); }
  RefusalProgram &reason() { return add(5); }
  RefusalProgram &detail() { return add(6); }
  RefusalProgram &print() { return add(7); }
  RefusalProgram &store(unsigned index) { return add(10).add16(index); }
  RefusalProgram &negate() { return add(11); }
  RefusalProgram &equal() { return add(12); }
  RefusalProgram &less() { return add(13); }
  RefusalProgram &both() { return add(14); }
  RefusalProgram &plus() { return add(15); }
  RefusalProgram &minus() { return add(16); }
  RefusalProgram &times() { return add(17); }
  RefusalProgram &modulo() { return add(18); }
  RefusalProgram &divide() { return add(19); }
  RefusalProgram &end() { return add(0); }

  /// What `then` adds runs where the topmost number, which is taken away, is not 0.
  void ifTrue(llvm::function_ref<void()> then);
  void ifReason(Reason wanted, llvm::function_ref<void()> then);
  void ifStatus(resid_status wanted, llvm::function_ref<void()> then);

  size_t size() const { return bytes.size(); }
  const std::string &getBytes() const { return bytes; }

private:
  RefusalProgram &add(uint8_t byte) {
    bytes += char(byte);
    return *this;
  }
  RefusalProgram &add16(unsigned value) { return add(value & 0xff).add(value >> 8); }

  std::string bytes;
};

/// The expressions whose values F's program reads: its derived sizes, then of each equality what it is about and the
/// two sides.
SmallVector<SizeExpr> getRefusedSizes(const KernelSignature &signature);

/// The places of a function's parameters among the words that its programs read: pointers, sizes and strides in the
/// order of the C parameters, without the scalars. Behind them are the values of getRefusedSizes(), the least number
/// where there is none.
struct ParameterWords {
  explicit ParameterWords(const KernelSignature &signature);

  /// Of each argument and result; -1 for scalars, and for strides of contiguous arrays.
  SmallVector<int> pointers, strides;
  SmallVector<int> sizes;
  unsigned firstExpression = 0;
  unsigned count = 0;
};

/// Why F refuses. `processors`: what of a processor is expected, as text.
RefusalProgram makeRefusals(const KernelSignature &signature, llvm::StringRef processors);
/// The beginning of F_dl's lines: the function, and the argument whose number is the value.
RefusalProgram makeDLPackPrefix(const KernelSignature &signature, llvm::StringRef name);
/// The rest of them, the same for all functions.
RefusalProgram makeDLPackRefusals();

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_REFUSALPROGRAM_H
