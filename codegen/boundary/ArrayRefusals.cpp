// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why F refuses: the checks of ArrayChecks.cpp once more, one by one and with words for each.

#include "codegen/boundary/RefusalProgram.h"

using namespace mlir;
using namespace mlir::resid::boundary;

/// Pairs of arrays beyond this many bytes are not told apart.
static constexpr size_t kMostBytes = 30000;

ParameterWords::ParameterWords(const KernelSignature &signature) {
  auto add = [&](const KernelValue &value, bool hasSizes) {
    pointers.push_back(value.isArray() ? int(count++) : -1);
    for (int64_t code : value.shape)
      if (hasSizes && code < 0)
        sizes.push_back(count++);
    strides.push_back(value.isStrided() ? int(count++) : -1);
  };
  for (const KernelValue &value : signature.arguments)
    add(value, true);
  for (const KernelValue &value : signature.results)
    add(value, false);
  firstExpression = count;
  count += getRefusedSizes(signature).size();
}

SmallVector<SizeExpr> mlir::resid::boundary::getRefusedSizes(const KernelSignature &signature) {
  SmallVector<SizeExpr> sizes(signature.derivedSizes.begin(), signature.derivedSizes.end());
  for (auto [a, b] : signature.equalities)
    sizes.append({signature.describeEquality(a, b).first, a, b});
  return sizes;
}

namespace {

class RefusalWriter {
public:
  explicit RefusalWriter(const KernelSignature &signature) : signature(signature), words(signature) {
    std::vector<std::string> strings;
    for (const KernelValue &value : signature.arguments) {
      values.push_back(&value);
      strings.push_back(signature.describeArgument(value));
    }
    for (const KernelValue &value : signature.results) {
      values.push_back(&value);
      strings.push_back("output '" + value.name + "'");
    }
    strings.push_back(" in part, expected the same array or another");
    strings.push_back(", expected arrays of their own");
    names = program.addStrings(strings);
    apartText = names.pop_back_val();
    partlyText = names.pop_back_val();
    program.text(signature.symbol + ": ");
  }

  RefusalProgram write(llvm::StringRef processors);

private:
  RefusalProgram &pushSize(int64_t code);
  RefusalProgram &pushProduct(int64_t factor, ArrayRef<int64_t> shape) {
    program.constant(factor);
    for (int64_t code : shape)
      pushSize(code).times();
    return program;
  }
  RefusalProgram &pushLimit() { return program.constant(kByteLimit); }

  void writePointers();
  void writeSizes();
  void writeEqualities();
  void writeDerived();
  void writeBytes(unsigned index);
  void writeStride(unsigned index);
  void writeOverlaps();
  void writeOverlap(unsigned output, unsigned other, bool mayBeEqual);
  void writeUnlessInterleaved(unsigned first, unsigned later, llvm::function_ref<void()> write);
  void writeScratch();
  void writeValues();

  const KernelSignature &signature;
  ParameterWords words;
  RefusalProgram program;
  SmallVector<const KernelValue *> values;
  SmallVector<unsigned> names;
  unsigned partlyText, apartText;
};

} // namespace

RefusalProgram &RefusalWriter::pushSize(int64_t code) {
  if (code >= 0)
    return program.constant(code);
  size_t index = -1 - code, count = signature.sizes.size();
  return program.word(index < count ? words.sizes[index] : words.firstExpression + index - count);
}

void RefusalWriter::writePointers() {
  for (size_t index = 0; index < values.size(); ++index) {
    const KernelValue &value = *values[index];
    if (!value.isArray())
      continue;
    program.word(words.pointers[index]).negate();
    pushProduct(1, value.shape).both().ifTrue([&] {
      program.string(names[index]).text(" is NULL, expected an array, because it has elements").end();
    });
  }
}

/// First what disagrees, since that is what the sizes of one array cannot say.
void RefusalWriter::writeSizes() {
  for (size_t index = 0; index < signature.sizes.size(); ++index) {
    const SizeParameter &size = signature.sizes[index];
    auto begin = [&, dimension = size.dimension, argument = size.argument] {
      program.string(names[argument]).text(": dimension " + std::to_string(dimension) + " is ");
      pushSize(-1 - int64_t(index)).print().text(", expected ");
    };
    auto pushOwn = [&]() -> RefusalProgram & { return pushSize(-1 - int64_t(index)); };
    if (size.fixed >= 0) {
      pushOwn().constant(size.fixed).equal().negate().ifTrue([&] {
        begin();
        program.text(std::to_string(size.fixed)).end();
      });
    } else if (size.sameAs != index) {
      const SizeParameter &other = signature.sizes[size.sameAs];
      bool isSameDimension = other.dimension == size.dimension;
      pushOwn();
      pushSize(-1 - int64_t(size.sameAs)).equal().negate().ifTrue([&] {
        begin();
        pushSize(-1 - int64_t(size.sameAs)).print();
        program.text(isSameDimension ? " (that of '" : " (dimension " + std::to_string(other.dimension) + " of '");
        program.text(signature.arguments[other.argument].name + "')").end();
      });
    } else {
      pushOwn().constant(0).less().ifTrue([&] {
        begin();
        program.text("0 or more").end();
      });
    }
  }
  writeEqualities();
  writeDerived();
  for (unsigned index = 0; index < values.size(); ++index)
    if (values[index]->isArray())
      writeBytes(index);
  for (unsigned index = 0; index < values.size(); ++index)
    if (values[index]->isStrided())
      writeStride(index);
}

void RefusalWriter::writeEqualities() {
  unsigned word = words.firstExpression + signature.derivedSizes.size();
  for (auto [a, b] : signature.equalities) {
    auto [size, condition] = signature.describeEquality(a, b);
    std::string name = signature.printSize(size), wanted = condition;
    program.word(word + 1).word(word + 2).equal().negate().ifTrue([&] {
      program.text(name + " is ");
      program.word(word).print().text(", expected it to be " + wanted).end();
    });
    word += 3;
  }
}

void RefusalWriter::writeDerived() {
  for (auto [index, size] : llvm::enumerate(signature.derivedSizes)) {
    unsigned word = words.firstExpression + index;
    program.word(word).constant(0).less().ifTrue([&, &size = size] {
      program.text(signature.printSize(size));
      program.word(word).constant(INT64_MIN).equal().ifTrue(
          [&] { program.text(" has no value, expected divisors other than 0 and numbers up to 2^47").end(); });
      program.text(" is ").word(word).print().text(", expected 0 or more").end();
    });
  }
}

void RefusalWriter::writeBytes(unsigned index) {
  const KernelValue &value = *values[index];
  if (llvm::all_of(value.shape, [](int64_t code) { return code >= 0; }))
    return;
  // A zero counts as a one, as in the check: so one factor is left away where it is 0.
  pushLimit().constant(value.getElementBytes());
  for (int64_t code : value.shape) {
    if (code >= 0) {
      program.constant(std::max<int64_t>(code, 1)).times();
      continue;
    }
    pushSize(code);
    pushSize(code).negate().plus().times();
  }
  program.less().ifTrue([&] {
    program.string(names[index]).text(": ");
    for (auto [dimension, code] : llvm::enumerate(value.shape)) {
      program.text(dimension ? " x " : "");
      pushSize(code).print();
    }
    program.text(" elements of " + std::to_string(value.getElementBytes()) +
                 " bytes, expected at most 2^47 bytes in all");
    program.end();
  });
}

void RefusalWriter::writeStride(unsigned index) {
  const KernelValue &value = *values[index];
  unsigned stride = words.strides[index];
  auto begin = [&] { program.string(names[index]).text(": row stride is ").word(stride).print().text(", expected "); };
  program.word(stride);
  pushSize(value.shape.back()).less().ifTrue([&] {
    begin();
    program.text("at least ");
    pushSize(value.shape.back()).print().text(" (the width)").end();
  });
  pushLimit();
  program.constant(value.getElementBytes());
  for (int64_t code : ArrayRef(value.shape).drop_back()) {
    pushSize(code);
    pushSize(code).negate().plus().times();
  }
  program.word(stride).times().less().ifTrue([&] {
    begin();
    program.text("rows that span at most 2^47 bytes").end();
  });
}

/// The extent of each array in bytes goes behind the parameters, so that pairs are short; 0 where there are no
/// elements.
void RefusalWriter::writeOverlaps() {
  for (auto [index, value] : llvm::enumerate(values)) {
    if (!value->isArray())
      continue;
    int64_t bytes = value->getElementBytes();
    if (value->isStrided()) { // ((rows - 1) * stride + width) * bytes, or 0
      ArrayRef<int64_t> shape = value->shape;
      pushProduct(1, shape.drop_back()).constant(1).minus().word(words.strides[index]).times();
      pushSize(shape.back()).plus().constant(bytes).times();
      pushProduct(1, shape).negate().negate().times();
    } else {
      pushProduct(bytes, value->shape);
    }
    program.store(words.count + index);
  }
  unsigned first = signature.arguments.size();
  for (unsigned output = first; output < values.size(); ++output)
    for (unsigned other = 0; other < output; ++other)
      if (values[other]->isArray() && program.size() < kMostBytes)
        writeOverlap(output, other, other < first && signature.mayShareBuffer(output - first, other));
  program.text("an output overlaps another array").end();
}

/// Both have elements; each begins before the other ends. Where they may be one array, they are not; where they may
/// take turns, they do not.
void RefusalWriter::writeOverlap(unsigned output, unsigned other, bool mayBeEqual) {
  auto begin = [&](unsigned index) -> RefusalProgram & { return program.word(words.pointers[index]); };
  auto extent = [&](unsigned index) -> RefusalProgram & { return program.word(words.count + index); };
  auto pushBeginsBeforeEnd = [&](unsigned a, unsigned b) -> RefusalProgram & {
    begin(a);
    begin(b);
    return extent(b).plus().less();
  };
  extent(output);
  extent(other).both();
  pushBeginsBeforeEnd(output, other).both();
  pushBeginsBeforeEnd(other, output).both();
  if (mayBeEqual) {
    begin(output);
    begin(other).equal();
    extent(output);
    extent(other).equal().both().negate().both();
  }
  program.ifTrue([&] {
    auto write = [&] {
      program.string(names[output]).text(" overlaps ").string(names[other]);
      program.string(mayBeEqual ? partlyText : apartText).end();
    };
    if (!values[output]->isStrided() || !values[other]->isStrided())
      return write();
    writeUnlessInterleaved(output, other, write);
    writeUnlessInterleaved(other, output, write);
    begin(output);
    begin(other).equal().ifTrue(write);
  });
}

/// For a `first` that begins before `later`: with equal strides, and d their distance within one, the first ends its
/// row before the later begins, and the later ends before the next row.
void RefusalWriter::writeUnlessInterleaved(unsigned first, unsigned later, llvm::function_ref<void()> write) {
  auto strideBytes = [&](unsigned index) -> RefusalProgram & {
    return program.word(words.strides[index]).constant(values[index]->getElementBytes()).times();
  };
  auto widthBytes = [&](unsigned index) -> RefusalProgram & {
    return pushProduct(values[index]->getElementBytes(), values[index]->shape.back());
  };
  auto shift = [&]() -> RefusalProgram & {
    program.word(words.pointers[later]).word(words.pointers[first]).minus();
    return strideBytes(first).modulo();
  };
  program.word(words.pointers[first]).word(words.pointers[later]).less().ifTrue([&] {
    strideBytes(first);
    strideBytes(later).equal();
    shift();
    widthBytes(first).less().negate().both();
    strideBytes(first);
    shift();
    widthBytes(later).plus().less().negate().both();
    program.negate().ifTrue(write);
  });
}

void RefusalWriter::writeScratch() {
  program.ifReason(ScratchTooLarge, [&] { program.text("scratch memory of more than 2^47 bytes is needed").end(); });
  program.ifStatus(RESID_OOM, [&] {
    program.text("scratch memory: ").value().print().text(" bytes are needed, but ctx->");
    program.ifReason(NoAllocHook, [&] { program.text("alloc is NULL").end(); });
    program.ifReason(NoFreeHook, [&] { program.text("free is NULL").end(); });
    program.text("alloc answered NULL").end();
  });
}

/// The text of a check says where its value stands, if that is known: where it was checked before the work began.
void RefusalWriter::writeValues() {
  for (auto [index, check] : llvm::enumerate(signature.checks))
    program.detail().constant(index).equal().ifTrue([&, &check = check] {
      auto [before, after] = StringRef(check.text).split("{0}");
      program.text(before);
      if (before.size() != check.text.size())
        check.isInside ? program.text("out of range") : program.value().print();
      program.text(after).end();
    });
  program.end();
}

RefusalProgram RefusalWriter::write(llvm::StringRef processors) {
  program.ifStatus(RESID_VERSION, [&] {
    program.text("ctx: abi_version is ").value().print();
    program.text(", expected " + std::to_string(RESID_ABI_VERSION)).end();
  });
  program.ifStatus(RESID_UNSUPPORTED,
                   [&] { program.text("this processor is not supported, expected " + processors.str()).end(); });
  program.ifReason(FailedCheck, [&] { writeValues(); });
  writeScratch();
  if (!signature.weights.empty())
    program.ifReason(NullWeights, [&] {
      program.text("argument '" + signature.weights + "' is NULL, expected a struct " + signature.getWeightsType());
      program.end();
    });
  program.ifStatus(RESID_BAD_POINTER, [&] { writePointers(); });
  program.ifStatus(RESID_BAD_SHAPE, [&] {
    writeSizes();
    program.text("a size is out of range").end();
  });
  program.ifStatus(RESID_ALIAS, [&] { writeOverlaps(); });
  program.end();
  return std::move(program);
}

RefusalProgram mlir::resid::boundary::makeRefusals(const KernelSignature &signature, llvm::StringRef processors) {
  return RefusalWriter(signature).write(processors);
}
