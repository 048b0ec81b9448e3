// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions around implementations: checks, scratch memory, call.

#include "codegen/boundary/ArrayChecks.h"
#include "codegen/boundary/ArrayRefusals.h"
#include "codegen/boundary/Boundary.h"
#include "codegen/boundary/EntryParameters.h"
#include "codegen/boundary/Passes.h"
#include "codegen/boundary/ScratchSlots.h"
#include "codegen/boundary/SharedBuffers.h"
#include "codegen/boundary/ValueChecks.h"
#include "codegen/cuda/Launch.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/machine/CPUFeatures.h"
#include "codegen/machine/CPUVariants.h"
#include "mlir/Transforms/RegionUtils.h"
#include "runtime/resid.h"

namespace mlir::resid::boundary {
#define GEN_PASS_DEF_BUILDENTRIES
#include "codegen/boundary/Passes.h.inc"
} // namespace mlir::resid::boundary

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;

namespace {

/// Builds F and F_scratch_bytes for one implementation, and for a device F_preload.
class EntryBuilder : EntryCode {
public:
  /// `targets`: the functions to choose from by the answer of `cpuChoice`, which may be null where there is but one.
  EntryBuilder(func::FuncOp implementation, const KernelSignature &signature, func::FuncOp cpuChoice,
               ArrayRef<func::FuncOp> targets, ArrayRef<EntryCheck> valueChecks)
      : EntryCode(implementation, signature), implementation(implementation), cpuChoice(cpuChoice), targets(targets),
        valueChecks(valueChecks) {}

  void buildEntry();
  void buildScratchBytes();
  /// One function for each derived size, which F_dl calls.
  void buildDerivedSizes();
  void buildPreload();
  /// The functions to which the others go where they refuse.
  void buildRefusals();

private:
  void checkContext();
  void checkValues();
  void chooseProcessor();
  void loadKernels();
  void callWithoutScratch();
  void callWithScratch(ArraySizes &code);
  /// The values that the implementation takes for its arguments but those for scratch memory and the status.
  SmallVector<Value> getOperands();
  /// Calls the implementation and gives the packed refusal that it answers, or null where it answers none.
  Value emitCall(Value scratch, Value scratchBytes);
  /// Returns what came of the call.
  void finish(Value refusal);
  /// Fills the blocks that refuse arrays.
  void buildArrayRefusals(ArraySizes &code);
  /// Calls that of the targets which was chosen.
  void emitChosenCall(ArrayRef<Value> operands);
  Value emitArgument(const EntryParameter &parameter);

  Value loadFromContext(Type type, kernels::ContextOffset offset) {
    Value address = create<LLVM::GEPOp>(pointerType, getI8Type(), context, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    return create<LLVM::LoadOp>(type, address);
  }

  func::FuncOp implementation;
  func::FuncOp cpuChoice;
  ArrayRef<func::FuncOp> targets;
  ArrayRef<EntryCheck> valueChecks;
  Value choice;
  SmallVector<Value> sizes, derivedSizes;
};

} // namespace

void EntryBuilder::checkContext() {
  Block *check = addBlock(), *next = addBlock();
  create<cf::CondBranchOp>(isNull(context), next, ValueRange{}, check, ValueRange{});
  setInsertionPointToStart(check);
  Value version = loadFromContext(getI32Type(), kernels::AbiVersion);
  Value wrong = compare(arith::CmpIPredicate::ne, version, RESID_ABI_VERSION);
  refuseValueIf(wrong, packRefusal(RESID_VERSION),
                RefusalText("ctx: abi_version is ").number(0).add(", expected " + std::to_string(RESID_ABI_VERSION)),
                castInteger(version, getI64Type()));
  create<cf::BranchOp>(next);
  setInsertionPointToStart(next);
}

/// Where overlaps are looked for, sizes that must be equal are: that no other is kept till then costs the good path
/// less.
void EntryBuilder::buildArrayRefusals(ArraySizes &code) {
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(refuse);
  emitArrayRefusal(sizes, refuse->getArgument(0));
  setInsertionPointToStart(refuseOverlap);
  SmallVector<Value> shared;
  for (unsigned index = 0; index < sizes.size(); ++index)
    shared.push_back(code.dimension(-1 - int64_t(index)));
  emitArrayRefusal(shared, constant32(RESID_ALIAS));
}

/// The text of a check says where its value stands, if that is known: where it was checked before the work began.
static RefusalText describe(const ValueCheck &check) {
  auto [before, after] = StringRef(check.text).split("{0}");
  RefusalText text(before);
  if (before.size() != check.text.size())
    check.isInside ? text.add("out of range") : text.number(0);
  return text.add(after);
}

/// Conditions on scalars and sizes.
void EntryBuilder::checkValues() {
  if (valueChecks.empty())
    return;
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip(implementation.getArguments(), getOperands()))
    mapping.map(argument, operand);
  for (const EntryCheck &check : valueChecks) {
    auto [condition, value] = ValueChecks::emit(check, *this, mapping);
    Value fails = exclusiveOr(condition, truth(true));
    refuseValueIf(fails, packRefusal(check.status, FailedCheck, check.number), describe(signature.checks[check.number]),
                  value);
  }
}

/// Reads the answer of the first call; where there is none yet, or no processor to choose, the processor is asked.
void EntryBuilder::chooseProcessor() {
  if (!cpuChoice)
    return;
  Type i32 = getI32Type();
  Block *ask = addBlock(), *chosen = addBlock();
  choice = chosen->addArgument(i32, getLoc());
  Value state = create<LLVM::AddressOfOp>(pointerType, machine::kCPUStateName);
  Value known =
      create<LLVM::LoadOp>(i32, state, /*alignment=*/4, false, false, false, false, LLVM::AtomicOrdering::monotonic);
  Value index = subtract(known, 1), count = constant32(targets.size());
  Value isKnown = compare(arith::CmpIPredicate::ult, index, count);
  create<cf::CondBranchOp>(isKnown, chosen, ValueRange{known}, ask, ValueRange{});
  setInsertionPointToStart(ask);
  Value answer = create<func::CallOp>(cpuChoice).getResult(0);
  refuseValueIf(compare(arith::CmpIPredicate::ugt, answer, count), packRefusal(RESID_UNSUPPORTED),
                RefusalText("this processor is not supported, expected ").string(1));
  create<cf::BranchOp>(chosen, ValueRange{answer});
  setInsertionPointToStart(chosen);
}

/// Answers what the runtime does, which has said why, where the kernels cannot be loaded.
void EntryBuilder::loadKernels() {
  Value status = cuda::loadModule(*this, getLoc(), entry->getParentOfType<ModuleOp>(), context);
  Block *refused = addBlock();
  branchIf(compare(arith::CmpIPredicate::ne, status, int32_t(RESID_OK)), refused);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(refused);
  create<func::ReturnOp>(status);
}

Value EntryBuilder::emitArgument(const EntryParameter &parameter) {
  Type type = parameter.type->type;
  if (parameter.type->isArray())
    return parameter.value;
  if (type.isIndex())
    return create<arith::IndexCastOp>(type, parameter.value);
  if (type != parameter.value.getType())
    return create<arith::BitcastOp>(type, parameter.value);
  return parameter.value;
}

void EntryBuilder::emitChosenCall(ArrayRef<Value> operands) {
  if (targets.size() == 1) {
    create<func::CallOp>(targets.front(), operands);
    return;
  }
  Block *join = addBlock();
  OpBuilder atCase(*this);
  SmallVector<Block *> cases;
  SmallVector<int32_t> numbers;
  for (func::FuncOp target : targets) {
    cases.push_back(addBlock());
    numbers.push_back(cases.size());
    atCase.setInsertionPointToStart(cases.back());
    func::CallOp::create(atCase, getLoc(), target, operands);
    cf::BranchOp::create(atCase, getLoc(), join);
  }
  // No other number comes here, so the last case needs none.
  SmallVector<ValueRange> noOperands(cases.size() - 1);
  create<cf::SwitchOp>(choice, cases.back(), ValueRange(), ArrayRef(numbers).drop_back(), ArrayRef(cases).drop_back(),
                       noOperands);
  setInsertionPointToStart(join);
}

SmallVector<Value> EntryBuilder::getOperands() {
  SmallVector<Value> operands = {context};
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results)) {
    operands.push_back(emitArgument(parameter));
    if (parameter.stride)
      operands.push_back(parameter.stride);
  }
  for (unsigned index : getPassedSizes(signature))
    operands.push_back(index < sizes.size() ? sizes[index] : derivedSizes[index - sizes.size()]);
  return operands;
}

Value EntryBuilder::emitCall(Value scratch, Value scratchBytes) {
  SmallVector<Value> operands = getOperands();
  if (scratch)
    operands.append({scratch, scratchBytes});
  if (!answersStatus(implementation)) {
    emitChosenCall(operands);
    return nullptr;
  }
  OpBuilder atEntry = OpBuilder::atBlockBegin(&entry.getBody().front());
  Value one = arith::ConstantIntOp::create(atEntry, getLoc(), 1, 64);
  Value status = LLVM::AllocaOp::create(atEntry, getLoc(), pointerType, getI32Type(), one, /*alignment=*/4);
  create<LLVM::StoreOp>(constant32(0), status);
  auto cellType = MemRefType::get({}, getI32Type());
  operands.push_back(kernels::createArgumentBuffer(*this, getLoc(), cellType, status, {}));
  emitChosenCall(operands);
  return create<LLVM::LoadOp>(getI32Type(), status);
}

void EntryBuilder::finish(Value refusal) {
  // A status of the runtime is negative as a packed refusal never is, and its reason has been told.
  if (refusal && signature.isForDevice) {
    Block *failed = addBlock();
    branchIf(compare(arith::CmpIPredicate::slt, refusal, 0), failed);
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(failed);
    create<func::ReturnOp>(refusal);
  }
  if (refusal) {
    Block *refused = addBlock();
    branchIf(compare(arith::CmpIPredicate::ne, refusal, 0), refused);
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(refused);
    create<func::ReturnOp>(emitValueRefusal(refusal, nullptr));
  }
  create<func::ReturnOp>(constant32(RESID_OK));
}

void EntryBuilder::callWithoutScratch() { finish(emitCall(nullptr, nullptr)); }

/// Memory comes from the context's hooks and goes back before the function returns; no bytes need no hooks.
void EntryBuilder::callWithScratch(ArraySizes &code) {
  auto sizeFunction = implementation->getAttrOfType<FlatSymbolRefAttr>(kScratchAttribute);
  Type i64 = getI64Type();
  Value bytes = create<func::CallOp>(sizeFunction.getValue(), TypeRange{i64}, ValueRange(sizes)).getResult(0);
  Value wrong = compare(arith::CmpIPredicate::slt, bytes, constant(0));
  refuseValueIf(wrong, packRefusal(RESID_BAD_SHAPE, ScratchTooLarge),
                "scratch memory of more than 2^47 bytes is needed");

  Block *allocate = addBlock(), *call = addBlock(), *release = addBlock(), *done = addBlock();
  Value scratch = call->addArgument(pointerType, getLoc());
  Value null = create<LLVM::ZeroOp>(pointerType);
  Value none = compare(arith::CmpIPredicate::eq, bytes, constant(0));
  create<cf::CondBranchOp>(none, call, ValueRange{null}, allocate, ValueRange{});

  setInsertionPointToStart(allocate);
  auto refuseMemory = [&](Value pointer, Reason reason, StringRef text) {
    refuseValueIf(isNull(pointer), packRefusal(RESID_OOM, reason),
                  RefusalText("scratch memory: ").number(0).add(" bytes are needed, but ctx->" + text.str()), bytes);
  };
  refuseMemory(context, NoAllocHook, "alloc is NULL");
  Value alloc = loadFromContext(pointerType, kernels::Alloc), free = loadFromContext(pointerType, kernels::Free);
  refuseMemory(alloc, NoAllocHook, "alloc is NULL");
  refuseMemory(free, NoFreeHook, "free is NULL");
  Value user = loadFromContext(pointerType, kernels::User);
  auto allocType = LLVM::LLVMFunctionType::get(pointerType, {pointerType, i64, i64});
  Value memory =
      create<LLVM::CallOp>(allocType, ValueRange{alloc, user, bytes, constant(kScratchAlignment)}).getResult();
  refuseMemory(memory, NoMemory, "alloc answered NULL");
  create<cf::BranchOp>(call, ValueRange{memory});

  setInsertionPointToStart(call);
  Value refusal = emitCall(scratch, bytes);
  create<cf::CondBranchOp>(isNull(scratch), done, ValueRange{}, release, ValueRange{});
  setInsertionPointToStart(release);
  auto freeType = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), {pointerType, pointerType});
  create<LLVM::CallOp>(freeType, ValueRange{loadFromContext(pointerType, kernels::Free),
                                            loadFromContext(pointerType, kernels::User), scratch});
  create<cf::BranchOp>(done);
  setInsertionPointToStart(done);
  finish(refusal);
}

void EntryBuilder::buildEntry() {
  begin(signature.symbol, getEntryType(signature, *this));
  entry->setAttr(kSignatureAttribute, signature.toAttribute(getContext()));
  context = entry.getArgument(0);
  checkContext();
  sizes = collectParameters(*this);
  ArraySizes code(*this, signature, sizes);
  derivedSizes = llvm::to_vector(code.getDerivedSizes());
  if (ParameterWords counts(signature); counts.fitStack())
    words = allocateWords(counts.count());
  ArrayChecks(*this, code, signature, arguments, results).emit();
  buildArrayRefusals(code);
  checkValues();
  chooseProcessor();
  if (signature.isForDevice)
    loadKernels();
  if (implementation->hasAttr(kScratchAttribute))
    callWithScratch(code);
  else
    callWithoutScratch();
  for (auto [number, check] : llvm::enumerate(signature.checks))
    if (check.isInside)
      addRefusal(packRefusal(check.status, FailedCheck, std::min<size_t>(number, ValueChecks::kMostNumbers)),
                 describe(check));
  // A refusal that nothing can lead to has a block all the same, and conversions leave blocks alone that are not
  // reached.
  IRRewriter rewriter(*this);
  (void)eraseUnreachableBlocks(rewriter, entry->getRegions());
}

void EntryBuilder::buildPreload() {
  setInsertionPoint(implementation);
  begin(signature.symbol + kPreloadSuffix.str(), getFunctionType(pointerType, getI32Type()));
  context = entry.getArgument(0);
  checkContext();
  loadKernels();
  create<func::ReturnOp>(constant32(RESID_OK));
  IRRewriter rewriter(*this);
  (void)eraseUnreachableBlocks(rewriter, entry->getRegions());
}

void EntryBuilder::buildRefusals() {
  buildValueRefusals();
  if (module.lookupSymbol(signature.symbol + kRefuseArraysSuffix.str()))
    boundary::buildArrayRefusals(implementation, signature);
}

void EntryBuilder::buildScratchBytes() {
  setInsertionPoint(implementation);
  SmallVector<Type> types(signature.sizes.size(), getI64Type());
  auto function = create<func::FuncOp>(signature.symbol + "_scratch_bytes", getFunctionType(types, {getI64Type()}));
  setInsertionPointToStart(function.addEntryBlock());
  if (auto sizeFunction = implementation->getAttrOfType<FlatSymbolRefAttr>(kScratchAttribute)) {
    auto call =
        create<func::CallOp>(sizeFunction.getValue(), TypeRange{getI64Type()}, ValueRange(function.getArguments()));
    create<func::ReturnOp>(call.getResults());
    return;
  }
  ArraySizes code(*this, signature, function.getArguments());
  Value bytes = select(code.faults(), constant(RESID_BAD_SHAPE), 0);
  create<func::ReturnOp>(bytes);
}

void EntryBuilder::buildDerivedSizes() {
  SmallVector<Type> types(signature.sizes.size(), getI64Type());
  for (auto [index, size] : llvm::enumerate(signature.derivedSizes)) {
    setInsertionPoint(implementation);
    auto function = create<func::FuncOp>(signature.getDerivedSizeName(signature.getDerivedCode(index)),
                                         getFunctionType(types, {getI64Type()}));
    function.setPrivate();
    setInsertionPointToStart(function.addEntryBlock());
    Value fault = truth(false);
    Value value = emitSize(
        *this, size, [&](unsigned at) -> Value { return function.getArgument(at); }, fault);
    create<func::ReturnOp>(value);
  }
}

namespace {
struct BuildEntries : resid::boundary::impl::BuildEntriesBase<BuildEntries> {
  using BuildEntriesBase::BuildEntriesBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> implementations;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kSignatureAttribute))
        implementations.push_back(function);
    if (implementations.empty())
      return;
    SmallVector<machine::CPUVariant> parsed;
    for (const std::string &text : variants)
      parsed.push_back(machine::CPUVariant::parse(text));
    std::vector<machine::FeatureSet> featureSets;
    for (const machine::CPUVariant &variant : parsed)
      featureSets.push_back(variant.features);
    if (parsed.empty())
      featureSets.emplace_back(cpuFeatures.begin(), cpuFeatures.end());
    machine::Architecture architecture = isAArch64 ? machine::Architecture::AArch64 : machine::Architecture::X86;
    func::FuncOp cpuChoice = machine::buildCPUChoice(getOperation(), architecture, featureSets);
    for (func::FuncOp implementation : implementations)
      buildFunctions(implementation, cpuChoice, parsed);
  }

  static void buildFunctions(func::FuncOp implementation, func::FuncOp cpuChoice,
                             ArrayRef<machine::CPUVariant> variants) {
    auto attribute = implementation->getAttrOfType<DictionaryAttr>(kSignatureAttribute);
    KernelSignature signature = KernelSignature::fromAttribute(attribute);
    findSharedBuffers(implementation, signature);
    narrowBoundary(implementation, signature);
    ValueChecks valueChecks(implementation, signature);
    SmallVector<func::FuncOp> targets = {implementation};
    if (!variants.empty())
      targets = machine::declareVariants(implementation, variants);
    EntryBuilder entryBuilder(implementation, signature, cpuChoice, targets, valueChecks.getEntryChecks());
    entryBuilder.buildEntry();
    entryBuilder.buildScratchBytes();
    entryBuilder.buildDerivedSizes();
    if (signature.isForDevice)
      entryBuilder.buildPreload();
    entryBuilder.buildRefusals();
    implementation->removeAttr(kSignatureAttribute);
  }
};
} // namespace
