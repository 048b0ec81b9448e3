// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CPUID answers of each feature; the places of the bits are those of Intel's and AMD's manuals.

#include "codegen/machine/CPUFeatures.h"

#include "codegen/cpu/choice/ProcessorQuery.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <map>

using namespace mlir;
using namespace mlir::resid::cpu;
using namespace mlir::resid::machine;

namespace {

/// Register state that the operating system must save, as bits of XCR0.
enum SavedState : uint32_t { None = 0, Vectors256 = 0x6, Vectors512 = 0xe6, ExtendedGeneral = 0x80000 };

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  CPUIDRegister reg;
  unsigned bit;
  SavedState state;
};

} // namespace

static constexpr Feature featureTable[] = {
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Vectors256},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"avx", 1, 0, ECX, 28, Vectors256},
    {"f16c", 1, 0, ECX, 29, Vectors256},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Vectors256},
    {"bmi2", 7, 0, EBX, 8, None},
    {"avx512f", 7, 0, EBX, 16, Vectors512},
    {"avx512dq", 7, 0, EBX, 17, Vectors512},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Vectors512},
    {"avx512cd", 7, 0, EBX, 28, Vectors512},
    {"avx512bw", 7, 0, EBX, 30, Vectors512},
    {"avx512vl", 7, 0, EBX, 31, Vectors512},
    {"avx512vbmi", 7, 0, ECX, 1, Vectors512},
    {"avx512vbmi2", 7, 0, ECX, 6, Vectors512},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Vectors256},
    {"vpclmulqdq", 7, 0, ECX, 10, Vectors256},
    {"avx512vnni", 7, 0, ECX, 11, Vectors512},
    {"avx512bitalg", 7, 0, ECX, 12, Vectors512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Vectors512},
    {"avx512vp2intersect", 7, 0, EDX, 8, Vectors512},
    {"avx512fp16", 7, 0, EDX, 23, Vectors512},
    {"avxvnni", 7, 1, EAX, 4, Vectors256},
    {"avx512bf16", 7, 1, EAX, 5, Vectors512},
    {"avxifma", 7, 1, EAX, 23, Vectors256},
    {"avxvnniint8", 7, 1, EDX, 4, Vectors256},
    {"avxneconvert", 7, 1, EDX, 5, Vectors256},
    {"avxvnniint16", 7, 1, EDX, 10, Vectors256},
    {"egpr", 7, 1, EDX, 21, ExtendedGeneral},
    {"sahf", 0x80000001, 0, ECX, 0, None},
    {"lzcnt", 0x80000001, 0, ECX, 5, None},
    {"sse4a", 0x80000001, 0, ECX, 6, None},
    {"xop", 0x80000001, 0, ECX, 11, Vectors256},
    {"fma4", 0x80000001, 0, ECX, 16, Vectors256},
    {"tbm", 0x80000001, 0, ECX, 21, None},
};

FeatureSet mlir::resid::machine::getX86Features() {
  FeatureSet names;
  for (const Feature &feature : featureTable)
    names.push_back(feature.name);
  return names;
}

namespace {

/// Emits the questions of all sets.
class X86Questions {
public:
  X86Questions(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  SmallVector<Value> ask(func::FuncOp function, ArrayRef<FeatureSet> featureSets);

private:
  /// What a set of features needs: an answer of CPUID, and register state that the operating system saves.
  struct Condition {
    Value reported;
    uint32_t savedState = None;
  };

  Value constant(uint32_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), builder.getI32IntegerAttr(int32_t(value)));
  }
  Value compare(LLVM::ICmpPredicate predicate, Value a, Value b) {
    return LLVM::ICmpOp::create(builder, loc, predicate, a, b);
  }
  Value both(Value a, Value b) { return LLVM::AndOp::create(builder, loc, a, b); }
  Value hasBits(Value word, uint32_t mask) {
    return compare(LLVM::ICmpPredicate::eq, both(word, constant(mask)), constant(mask));
  }
  /// Each leaf is asked once, whatever the number of sets: under a hypervisor CPUID takes microseconds.
  Value cpuid(uint32_t leaf, uint32_t subleaf, CPUIDRegister reg);
  Condition emitCondition(const FeatureSet &features);
  /// XCR0, or 0 where it is not there. Goes on in a new block.
  Value readSavedState(func::FuncOp function);

  OpBuilder &builder;
  Location loc;
  std::map<std::pair<uint32_t, uint32_t>, Value> leaves;
};

} // namespace

Value X86Questions::cpuid(uint32_t leaf, uint32_t subleaf, CPUIDRegister reg) {
  Value &registers = leaves[{leaf, subleaf}];
  if (!registers)
    registers = emitCPUID(builder, loc, constant(leaf), constant(subleaf));
  return emitRegister(builder, loc, registers, reg);
}

X86Questions::Condition X86Questions::emitCondition(const FeatureSet &features) {
  Condition condition;
  std::map<std::tuple<uint32_t, uint32_t, CPUIDRegister>, uint32_t> masks;
  for (const Feature &feature : featureTable)
    if (llvm::is_contained(features, feature.name)) {
      masks[{feature.leaf, feature.subleaf, feature.reg}] |= uint32_t(1) << feature.bit;
      condition.savedState |= feature.state;
    }
  condition.reported = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(), builder.getBoolAttr(true));
  for (const auto &[place, mask] : masks) {
    auto [leaf, subleaf, reg] = place;
    // A leaf beyond the last answers as some other leaf does, so the number of the last one is asked first.
    Value last = cpuid(leaf & 0x80000000u, 0, EAX);
    Value here =
        both(compare(LLVM::ICmpPredicate::uge, last, constant(leaf)), hasBits(cpuid(leaf, subleaf, reg), mask));
    if (subleaf > 0)
      here = both(here, compare(LLVM::ICmpPredicate::uge, cpuid(leaf, 0, EAX), constant(subleaf)));
    condition.reported = both(condition.reported, here);
  }
  return condition;
}

Value X86Questions::readSavedState(func::FuncOp function) {
  // XGETBV may run only where the operating system has enabled it, which is bit 27.
  Block *read = function.addBlock(), *next = function.addBlock();
  Value state = next->addArgument(builder.getI32Type(), loc);
  Value isEnabled = hasBits(cpuid(1, 0, ECX), uint32_t(1) << 27);
  cf::CondBranchOp::create(builder, loc, isEnabled, read, ValueRange{}, next, ValueRange{constant(0)});
  builder.setInsertionPointToStart(read);
  cf::BranchOp::create(builder, loc, next, ValueRange{emitXGETBV(builder, loc, constant(0))});
  builder.setInsertionPointToStart(next);
  return state;
}

SmallVector<Value> X86Questions::ask(func::FuncOp function, ArrayRef<FeatureSet> featureSets) {
  SmallVector<Condition> conditions =
      llvm::map_to_vector(featureSets, [&](const FeatureSet &features) { return emitCondition(features); });
  Value saved;
  if (llvm::any_of(conditions, [](const Condition &condition) { return condition.savedState; }))
    saved = readSavedState(function);
  return llvm::map_to_vector(conditions, [&](const Condition &condition) {
    return condition.savedState ? both(condition.reported, hasBits(saved, condition.savedState)) : condition.reported;
  });
}

SmallVector<Value> mlir::resid::machine::askX86(OpBuilder &builder, Location loc, func::FuncOp function,
                                                ArrayRef<FeatureSet> featureSets) {
  return X86Questions(builder, loc).ask(function, featureSets);
}
