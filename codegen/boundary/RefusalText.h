// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a refused call is told, as resid.refuse (shared/Refuse.c) puts it into a line: text, and places for values. Does not
// own when a call is refused.

#ifndef RESID_CODEGEN_BOUNDARY_REFUSALTEXT_H
#define RESID_CODEGEN_BOUNDARY_REFUSALTEXT_H

#include "runtime/resid.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::resid::boundary {

/// What is wrong, beside the status, where the status alone does not say it.
enum Reason : uint8_t {
  // Of F.
  NoReason,
  ScratchTooLarge,
  NoAllocHook,
  NoFreeHook,
  NoMemory,
  // Of F_dl; resid.dl_read (shared/DLPackRead.c) answers these, with what was found and expected in the first two words.
  NullTensor, // 5
  OtherDevice,
  OtherType,
  OtherRank,
  NullShape,
  OtherSize,
  OtherStride,
  // Of a condition (rows.require); the detail is its number among KernelSignature::checks.
  FailedCheck,
  // Of F again.
  NullWeights,
};
static_assert(NullTensor == 5 && OtherStride == 11, "expected the numbers in DLPackRead.c");

/// A status, a reason and a detail (the number of a value check or of a dimension) in one word.
constexpr int32_t packRefusal(resid_status status, Reason reason = NoReason, unsigned detail = 0) {
  return int32_t((uint32_t(status) & 0xff) | uint32_t(reason) << 8 | uint32_t(detail) << 16);
}

class RefusalText {
public:
  RefusalText() = default;
  RefusalText(llvm::StringRef text) { add(text); }
  RefusalText(const char *text) { add(text); }
  RefusalText(const std::string &text) { add(text); }

  RefusalText &add(llvm::StringRef text) {
    for (char c : text)
      bytes += static_cast<unsigned char>(c) < 32 ? ' ' : c; // lower ones are places
    return *this;
  }
  /// The value of this number: an i64, the address of a string, the bits of a DLDataType.
  RefusalText &number(unsigned value) { return place(1, value); }
  RefusalText &string(unsigned value) { return place(2, value); }
  RefusalText &type(unsigned value) { return place(3, value); }

  llvm::StringRef getBytes() const { return bytes; }

private:
  RefusalText &place(char kind, unsigned value) {
    bytes += kind;
    bytes += char(1 + value);
    return *this;
  }

  std::string bytes;
};

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_REFUSALTEXT_H
