// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPUID instruction as LLVM-dialect code; the places of the bits are those of Intel's and AMD's manuals.

#include "codegen/emit/CPUFeatures.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <map>

using namespace mlir;
using namespace mlir::resid::emit;

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// Register state that the operating system must save, as bits of XCR0.
enum SavedState : uint32_t { None = 0, Vectors256 = 0x6, Vectors512 = 0xe6, ExtendedGeneral = 0x80000 };

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
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

std::vector<std::string> mlir::resid::emit::getCheckableFeatures() {
  std::vector<std::string> names;
  for (const Feature &feature : featureTable)
    names.push_back(feature.name);
  return names;
}

namespace {

/// Builds the body of the choice.
class CPUChoiceBuilder {
public:
  CPUChoiceBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  void build(func::FuncOp function, LLVM::GlobalOp state, ArrayRef<std::vector<std::string>> featureSets);

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
  /// The registers after an instruction with several results.
  Value instruction(StringRef name, StringRef constraints, ValueRange operands, unsigned results);
  Value extract(Value registers, int64_t index) {
    return LLVM::ExtractValueOp::create(builder, loc, registers, ArrayRef<int64_t>{index});
  }
  /// Each leaf is asked once, whatever the number of sets: under a hypervisor CPUID takes microseconds.
  Value cpuid(uint32_t leaf, uint32_t subleaf, Register reg);
  Condition emitCondition(ArrayRef<std::string> features);
  /// Ends the current block with branches to `store`, whose argument is XCR0, or 0 where it is not needed or not there.
  void branchWithSavedState(func::FuncOp function, Block *store, bool isNeeded);

  OpBuilder &builder;
  Location loc;
  std::map<std::pair<uint32_t, uint32_t>, Value> leaves;
};

} // namespace

Value CPUChoiceBuilder::instruction(StringRef name, StringRef constraints, ValueRange operands, unsigned results) {
  SmallVector<Type> types(results, builder.getI32Type());
  Type type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto all = LLVM::InlineAsmOp::create(builder, loc, type, operands, name, constraints, /*has_side_effects=*/true,
                                       /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                       /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  return all->getResult(0);
}

Value CPUChoiceBuilder::cpuid(uint32_t leaf, uint32_t subleaf, Register reg) {
  Value &registers = leaves[{leaf, subleaf}];
  if (!registers)
    registers = instruction("cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}", {constant(leaf), constant(subleaf)}, 4);
  return extract(registers, reg);
}

CPUChoiceBuilder::Condition CPUChoiceBuilder::emitCondition(ArrayRef<std::string> features) {
  Condition condition;
  std::map<std::tuple<uint32_t, uint32_t, Register>, uint32_t> masks;
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

void CPUChoiceBuilder::branchWithSavedState(func::FuncOp function, Block *store, bool isNeeded) {
  Value nothing = constant(0);
  if (!isNeeded) {
    cf::BranchOp::create(builder, loc, store, ValueRange{nothing});
    return;
  }
  // XGETBV may run only where the operating system has enabled it, which is bit 27.
  Block *askState = function.addBlock();
  Value isEnabled = hasBits(cpuid(1, 0, ECX), uint32_t(1) << 27);
  cf::CondBranchOp::create(builder, loc, isEnabled, askState, ValueRange{}, store, ValueRange{nothing});
  builder.setInsertionPointToStart(askState);
  Value saved = extract(instruction("xgetbv", "={ax},={dx},{cx}", {constant(0)}, 2), 0);
  cf::BranchOp::create(builder, loc, store, ValueRange{saved});
}

/// The state is 0 before the processor was asked, then the answer. Threads may race to store it: all store the same.
void CPUChoiceBuilder::build(func::FuncOp function, LLVM::GlobalOp state,
                             ArrayRef<std::vector<std::string>> featureSets) {
  Block *entry = function.addEntryBlock();
  Block *ask = function.addBlock(), *store = function.addBlock(), *answer = function.addBlock();
  Value saved = store->addArgument(builder.getI32Type(), loc);
  Value number = answer->addArgument(builder.getI32Type(), loc);

  builder.setInsertionPointToStart(entry);
  Value address = LLVM::AddressOfOp::create(builder, loc, state);
  Value stored = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address, /*alignment=*/4, false, false, false,
                                      false, LLVM::AtomicOrdering::monotonic);
  cf::CondBranchOp::create(builder, loc, compare(LLVM::ICmpPredicate::eq, stored, constant(0)), ask, ValueRange{},
                           answer, ValueRange{stored});

  builder.setInsertionPointToStart(ask);
  SmallVector<Condition> conditions;
  for (const std::vector<std::string> &features : featureSets)
    conditions.push_back(emitCondition(features));
  branchWithSavedState(function, store,
                       llvm::any_of(conditions, [](const Condition &condition) { return condition.savedState; }));

  builder.setInsertionPointToStart(store);
  Value result = constant(featureSets.size() + 1);
  for (int64_t index = featureSets.size() - 1; index >= 0; --index) {
    Value good = both(conditions[index].reported, hasBits(saved, conditions[index].savedState));
    result = LLVM::SelectOp::create(builder, loc, good, constant(index + 1), result);
  }
  LLVM::StoreOp::create(builder, loc, result, address, /*alignment=*/4, false, false, false,
                        LLVM::AtomicOrdering::monotonic);
  cf::BranchOp::create(builder, loc, answer, ValueRange{result});

  builder.setInsertionPointToStart(answer);
  func::ReturnOp::create(builder, loc, number);
}

func::FuncOp mlir::resid::emit::buildCPUChoice(ModuleOp module, ArrayRef<std::vector<std::string>> featureSets) {
  if (llvm::all_of(featureSets, [](const std::vector<std::string> &features) { return features.empty(); }))
    return nullptr;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto state = LLVM::GlobalOp::create(builder, loc, builder.getI32Type(), /*isConstant=*/false, LLVM::Linkage::Internal,
                                      "resid_cpu_state", builder.getI32IntegerAttr(0), /*alignment=*/4);
  auto function =
      func::FuncOp::create(builder, loc, kCPUChoiceName, builder.getFunctionType({}, {builder.getI32Type()}));
  function.setPrivate();
  CPUChoiceBuilder(builder, loc).build(function, state, featureSets);
  return function;
}
