// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Linux says of an aarch64 processor, as LLVM-dialect code: two words of bits, asked for by getauxval of the C
// library. A bit is set only where the operating system also keeps the registers. The bits are those of Linux's
// interface (asm/hwcap.h).

#include "codegen/machine/CPUFeatures.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <array>

using namespace mlir;
using namespace mlir::resid::machine;

namespace {

/// The keys AT_HWCAP and AT_HWCAP2 of the auxiliary vector, in the order of the masks below.
constexpr int64_t kWordKeys[] = {16, 26};
constexpr size_t kWords = std::size(kWordKeys);

constexpr uint64_t bit(unsigned position) { return uint64_t(1) << position; }

struct Feature {
  const char *name;
  std::array<uint64_t, kWords> masks;
};

} // namespace

// Features whose instructions LLVM selects by itself in row kernels. Three kinds are not in the table and never asked.
// The first comes by intrinsics or attributes only: cryptography but for the xor of three, checksums, random numbers,
// memory tags, pointer authentication, streaming mode. The second is atomic operations, which kernels do not have. The
// third is for systems, and Linux hides some of it from programs.
static constexpr Feature featureTable[] = {
    {"fullfp16", {bit(9) | bit(10), 0}},
    {"rdm", {bit(12), 0}},
    {"jsconv", {bit(13), 0}},
    {"complxnum", {bit(14), 0}},
    {"sha3", {bit(17), 0}},
    {"dotprod", {bit(20), 0}},
    {"sve", {bit(22), 0}},
    {"fp16fml", {bit(23), 0}},
    {"flagm", {bit(27), 0}},
    {"cmpbr", {bit(33), 0}},
    {"fprcvt", {bit(34), 0}},
    {"sve-bfscale", {bit(40), 0}},
    {"sve2p2", {bit(41), 0}},
    {"sve2", {0, bit(1)}},
    {"sve-bitperm", {0, bit(4)}},
    {"sve-sha3", {0, bit(5)}},
    {"altnzcv", {0, bit(7)}},
    {"fptoint", {0, bit(8)}},
    {"f32mm", {0, bit(10)}},
    {"f64mm", {0, bit(11)}},
    {"i8mm", {0, bit(13)}},
    {"bf16", {0, bit(14)}},
    {"cssc", {0, bit(34)}},
    {"sve2p1", {0, bit(36)}},
    {"mops", {0, bit(43)}},
    {"hbc", {0, bit(44)}},
    {"sve-b16b16", {0, bit(45)}},
    {"lut", {0, bit(49)}},
    {"faminmax", {0, bit(50)}},
};

FeatureSet mlir::resid::machine::getAArch64Features() {
  FeatureSet names;
  for (const Feature &feature : featureTable)
    names.push_back(feature.name);
  return names;
}

static std::array<uint64_t, kWords> collectMasks(const FeatureSet &features) {
  std::array<uint64_t, kWords> masks = {};
  for (const Feature &feature : featureTable)
    if (llvm::is_contained(features, feature.name))
      for (size_t word = 0; word < kWords; ++word)
        masks[word] |= feature.masks[word];
  return masks;
}

SmallVector<Value> mlir::resid::machine::askAArch64(OpBuilder &builder, Location loc, func::FuncOp function,
                                                    ArrayRef<FeatureSet> featureSets) {
  Type i64 = builder.getI64Type();
  auto constant = [&](uint64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(int64_t(value)));
  };
  LLVM::LLVMFuncOp getauxval;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    getauxval = LLVM::LLVMFuncOp::create(builder, loc, "getauxval", LLVM::LLVMFunctionType::get(i64, {i64}));
  }
  SmallVector<Value> words = llvm::map_to_vector(kWordKeys, [&](int64_t key) -> Value {
    return LLVM::CallOp::create(builder, loc, getauxval, ValueRange{constant(key)}).getResult();
  });
  return llvm::map_to_vector(featureSets, [&](const FeatureSet &features) -> Value {
    Value all;
    for (auto [word, bits] : llvm::zip_equal(words, collectMasks(features))) {
      Value mask = constant(bits), has = LLVM::AndOp::create(builder, loc, word, mask);
      Value hasAll = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, has, mask);
      all = all ? Value(LLVM::AndOp::create(builder, loc, all, hasAll)) : hasAll;
    }
    return all;
  });
}
