// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of programs, and the programs of F_dl. Those of F: ArrayRefusals.cpp.

#include "codegen/boundary/RefusalProgram.h"

using namespace mlir;
using namespace mlir::resid::boundary;

SmallVector<unsigned> RefusalProgram::addStrings(ArrayRef<std::string> strings) {
  SmallVector<unsigned> places;
  constant(0).ifTrue([&] {
    for (const std::string &string : strings) {
      places.push_back(bytes.size());
      text(string).end();
    }
  });
  return places;
}

RefusalProgram &RefusalProgram::text(llvm::StringRef text) {
  for (char c : text)
    bytes += uint8_t(c) < 32 ? ' ' : c; // lower ones are operations
  return *this;
}

RefusalProgram &RefusalProgram::constant(int64_t value) {
  if (value >= 0 && value < 256)
    return add(20).add(value);
  add(1);
  for (unsigned byte = 0; byte < 8; ++byte)
    add(uint64_t(value) >> (8 * byte));
  return *this;
}

void RefusalProgram::ifTrue(llvm::function_ref<void()> then) {
  add(9).add16(0);
  size_t from = bytes.size();
  then();
  size_t distance = bytes.size() - from;
  bytes[from - 2] = char(distance & 0xff);
  bytes[from - 1] = char(distance >> 8);
}

void RefusalProgram::ifReason(Reason wanted, llvm::function_ref<void()> then) {
  reason().constant(wanted).equal().ifTrue(then);
}

void RefusalProgram::ifStatus(resid_status wanted, llvm::function_ref<void()> then) {
  status().constant(wanted).equal().ifTrue(then);
}

RefusalProgram mlir::resid::boundary::makeDLPackPrefix(const KernelSignature &signature, llvm::StringRef name) {
  RefusalProgram program;
  size_t count = signature.arguments.size() + signature.results.size();
  program.text(name).text(": ");
  program.ifReason(OtherCount,
                   [&] { program.text("n is ").value().print().text(", expected " + std::to_string(count)).end(); });
  program.ifReason(NullTensors, [&] { program.text("args is NULL, expected tensors").end(); });
  for (auto [index, value] : llvm::enumerate(llvm::concat<const KernelValue>(signature.arguments, signature.results))) {
    bool isArgument = index < signature.arguments.size();
    std::string text = (isArgument ? "argument '" : "output '") + value.name + "'";
    program.value().constant(index).equal().ifTrue([&] { program.text(text).end(); });
  }
  return program.end();
}

/// Prints the element type that is a DLDataType in the word of this index: its name as DLPack's users know it, float32.
static void printType(RefusalProgram &program, unsigned word) {
  static constexpr std::pair<int, llvm::StringLiteral> names[] = {
      {0, "int"}, {1, "uint"}, {2, "float"}, {3, "handle"}, {4, "bfloat"}, {5, "complex"}, {6, "bool"}};
  auto code = [&]() -> RefusalProgram & { return program.word(word).constant(256).modulo(); };
  auto lanes = [&]() -> RefusalProgram & { return program.word(word).constant(1 << 16).divide(); };
  for (const auto &entry : names)
    code().constant(entry.first).equal().ifTrue([&] { program.text(entry.second); });
  program.constant(6);
  code().less().ifTrue([&] {
    program.text("code ");
    code().print().text(" of bits ");
  });
  program.word(word).constant(256).divide().constant(256).modulo().print();
  lanes().constant(1).equal().negate().ifTrue([&] {
    program.text("x");
    lanes().print();
  });
}

RefusalProgram mlir::resid::boundary::makeDLPackRefusals() {
  constexpr unsigned found = 0, expected = 1;
  RefusalProgram program;
  // Nothing is left to say.
  for (Reason reason : {OtherCount, NullTensors})
    program.ifReason(reason, [&] { program.end(); });
  program.ifReason(NullTensor, [&] { program.text(" is NULL, expected a tensor").end(); });
  program.ifReason(NullShape, [&] { program.text(": shape is NULL, expected sizes").end(); });
  program.ifReason(NullScalar, [&] { program.text(": data is NULL, expected a scalar").end(); });
  program.ifReason(OtherType, [&] {
    program.text(": element type is ");
    printType(program, found);
    program.text(", expected ");
    printType(program, expected);
    program.end();
  });
  program.ifReason(OtherDevice, [&] { program.text(": device type"); });
  program.ifReason(OtherRank, [&] { program.text(": number of dimensions"); });
  program.ifReason(OtherSize, [&] { program.text(": dimension ").detail().print(); });
  program.ifReason(OtherStride, [&] { program.text(": stride of dimension ").detail().print(); });
  program.text(" is ").word(found).print().text(", expected ");
  program.word(expected).constant(0).less().ifTrue([&] { program.text("0 or more").end(); });
  program.word(expected).print();
  program.ifReason(OtherDevice, [&] {
    program.word(expected).constant(kDLCPU).equal().ifTrue([&] { program.text(" (the CPU)").end(); });
    program.text(" (CUDA)");
  });
  return program.end();
}
