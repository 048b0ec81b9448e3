// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/machine/Target.h"

#include "codegen/machine/CPUFeatures.h"
#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::machine;

bool TargetDescription::hasFeature(StringRef feature) const {
  return machine->getMCSubtargetInfo()->checkFeatures(("+" + feature).str());
}

std::vector<std::string> TargetDescription::getRequiredFeatures() const {
  std::vector<std::string> required;
  for (const std::string &feature : getCheckableFeatures(facts.isX86 ? Architecture::X86 : Architecture::AArch64))
    if (hasFeature(feature))
      required.push_back(feature);
  return required;
}

/// Only the back ends that resid emits code for, so that start-up stays short.
static void initializeBackEnds() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

static std::string hostFeatures() {
  SubtargetFeatures features;
  for (const auto &[name, enabled] : sys::getHostCPUFeatures())
    features.AddFeature(name, enabled);
  return features.getString();
}

namespace {
/// How wide vectors are, and why they are no wider; "" where they have the most bits there are.
struct VectorWidth {
  unsigned bits;
  const char *reason;
};
} // namespace

/// The widest registers there are. LLVM prefers half of them for some servers, whose clock falls under wide vectors:
/// that is advice for a few of them in scalar programs. Row kernels are vector code throughout, and wait for memory.
static VectorWidth chooseVectorWidth(const TargetDescription &target, const Triple &triple) {
  if (!triple.isX86())
    return {128, target.hasFeature("sve") ? "NEON has 128 bits, and kernels do not use SVE" : "NEON has 128 bits"};
  if (target.hasFeature("avx512f"))
    return {512, ""};
  return target.hasFeature("avx") ? VectorWidth{256, "the processor has no AVX-512"}
                                  : VectorWidth{128, "the processor has no AVX"};
}

static unsigned maskedBits(const TargetDescription &target, const Triple &triple) {
  if (!triple.isX86())
    return 0;
  if (target.hasFeature("avx512bw") && target.hasFeature("avx512vl"))
    return 16;
  return target.hasFeature("avx") ? 32 : 0;
}

static unsigned integerBits(const TargetDescription &target, const Triple &triple) {
  if (triple.isX86() && target.hasFeature("avx512bw"))
    return 512;
  return triple.isX86() && target.hasFeature("avx2") ? 256 : 128;
}

/// Linux with 64-bit pointers: what the entries ask the processor by, and the sizes in their signatures, rest on it.
static bool isAvailable(const Triple &triple) {
  bool hasShortPointers = is_contained({Triple::GNUX32, Triple::MuslX32, Triple::GNUILP32}, triple.getEnvironment());
  bool isKnown = triple.getArch() == Triple::x86_64 || triple.getArch() == Triple::aarch64;
  return isKnown && triple.isOSLinux() && triple.isOSBinFormatELF() && !hasShortPointers;
}

/// LLVM knows 32-bit processors too, for which its code generator stops the process.
static bool hasLongPointers(const Target &backEnd, const Triple &triple, StringRef cpu, StringRef features) {
  std::unique_ptr<MCSubtargetInfo> probe(backEnd.createMCSubtargetInfo(triple, cpu, features));
  return !triple.isX86() || probe->checkFeatures("+64bit");
}

/// The CPUs of 64 bits, by name.
static SmallVector<StringRef> getKnownCPUs(const Target &backEnd, const Triple &triple) {
  SmallVector<StringRef> names;
  std::unique_ptr<MCSubtargetInfo> probe(backEnd.createMCSubtargetInfo(triple, "", ""));
  for (const SubtargetSubTypeKV &cpu : probe->getAllProcessorDescriptions())
    if (hasLongPointers(backEnd, triple, cpu.Key, ""))
      names.push_back(cpu.Key);
  return names;
}

static Error unknownCPU(StringRef mcpu, const Target &backEnd, const Triple &triple) {
  StringRef examples = triple.isX86() ? "x86-64-v2, x86-64-v3, x86-64-v4, skylake-avx512, znver4"
                                      : "generic, cortex-a72, neoverse-n1, neoverse-v2, apple-m1";
  return createStringError("expected a CPU of " + triple.getArchName() + " such as native, " + examples +
                           ", but got '" + mcpu + "'" + suggestNearest(mcpu, {getKnownCPUs(backEnd, triple), {}, {}}));
}

/// The triple of that name, or of this machine, and LLVM's back end for it.
static Expected<std::pair<Triple, const Target *>> resolveTriple(StringRef name) {
  initializeBackEnds();
  Triple triple(name.empty() ? sys::getDefaultTargetTriple() : Triple::normalize(name));
  std::string message;
  const Target *backEnd = TargetRegistry::lookupTarget(triple, message);
  if (!backEnd || !isAvailable(triple))
    return createStringError(std::make_error_code(std::errc::not_supported),
                             "expected a triple of x86_64 or aarch64 with Linux and pointers of 64 bits, but got '" +
                                 triple.str() + "'");
  return std::pair(triple, backEnd);
}

/// The features after a CPU's name, as LLVM writes them; an error for one that no processor is asked for.
static Expected<std::string> parseFeatures(StringRef mcpu, Architecture architecture) {
  SmallVector<StringRef> names;
  mcpu.split(names, '+');
  FeatureSet all = getCheckableFeatures(architecture);
  SmallVector<StringRef> known(all.begin(), all.end());
  SubtargetFeatures features;
  for (StringRef name : ArrayRef(names).drop_front()) {
    if (!llvm::is_contained(known, name))
      return createStringError("expected features such as avx512vnni after '" + names.front() + "+', but got '" + name +
                               "'" + suggestNearest(name, {known, {}, {}}));
    features.AddFeature(name);
  }
  return features.getString();
}

Expected<TargetDescription> machine::resolveTarget(StringRef tripleName, StringRef mcpu) {
  Expected<std::pair<Triple, const Target *>> resolved = resolveTriple(tripleName);
  if (!resolved)
    return resolved.takeError();
  auto [triple, backEnd] = *resolved;
  TargetDescription target;
  target.triple = triple.str();
  target.cpu = mcpu.str();
  if (mcpu == "native") {
    if (triple.getArch() != Triple(sys::getDefaultTargetTriple()).getArch())
      return createStringError("expected a CPU name for the triple '" + target.triple +
                               "', such as --mcpu=" + (triple.isX86() ? "x86-64-v3" : "generic") +
                               ", but got 'native', which is this machine's");
    target.cpu = sys::getHostCPUName().str();
    target.features = hostFeatures();
  }
  std::unique_ptr<MCSubtargetInfo> probe(backEnd->createMCSubtargetInfo(triple, "", ""));
  if (mcpu != "native") {
    Expected<std::string> features = parseFeatures(mcpu, triple.isX86() ? Architecture::X86 : Architecture::AArch64);
    if (!features)
      return features.takeError();
    target.features = *features;
  }
  StringRef base = getBaseCPU(target.cpu);
  if (!probe->isCPUStringValid(base) || !hasLongPointers(*backEnd, triple, base, target.features))
    return unknownCPU(mcpu, *backEnd, triple);

  TargetOptions options;
  // A multiplication and an addition stay two roundings unless the program says fma.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  target.machine.reset(backEnd->createTargetMachine(triple, base, target.features, options, Reloc::PIC_, std::nullopt,
                                                    CodeGenOptLevel::Aggressive));
  bool aarch64 = triple.getArch() == Triple::aarch64;
  target.facts.hasFMA = aarch64 || target.hasFeature("fma");
  target.facts.hasF16C = aarch64 || target.hasFeature("f16c");
  VectorWidth width = chooseVectorWidth(target, triple);
  target.facts.vectorBits = width.bits;
  target.facts.vectorBitsReason = width.reason;
  target.facts.maskedBits = maskedBits(target, triple);
  target.facts.hasPackedBF16 = triple.isX86() && target.hasFeature("avx512bf16") && target.hasFeature("avx512dq") &&
                               target.hasFeature("avx512vl");
  target.facts.isX86 = triple.isX86();
  target.facts.integerBits = integerBits(target, triple);
  // Registers of 512 bits have the instructions of AVX-512 alone.
  bool hasWideDot = target.hasFeature(aarch64 ? "dotprod" : "avx512vnni") && (aarch64 || target.hasFeature("avx512vl"));
  target.facts.hasByteDot = hasWideDot || (triple.isX86() && width.bits == 256 && target.hasFeature("avxvnni"));
  target.facts.hasByteMatrices = aarch64 && hasWideDot && target.hasFeature("i8mm");
  return target;
}

/// What decides between CPUs that a processor both has: more of it is better. A CPU that has all that another has, and
/// more, always ranks higher.
static std::pair<unsigned, size_t> capability(const TargetDescription &target) {
  unsigned registerBits = target.hasFeature("avx512f") ? 512 : target.hasFeature("avx") ? 256 : 128;
  return {registerBits, target.getRequiredFeatures().size()};
}

/// A CPU that asks for the same as an earlier one would never be chosen.
static Error checkDistinct(ArrayRef<TargetDescription> targets) {
  for (const TargetDescription &target : targets)
    for (const TargetDescription &earlier : ArrayRef(targets.data(), &target)) {
      if (target.cpu == earlier.cpu)
        return createStringError("expected each CPU once, but got '" + target.cpu + "' twice");
      if (target.getRequiredFeatures() == earlier.getRequiredFeatures())
        return createStringError("expected CPUs that differ in what they need, but '" + earlier.cpu + "' and '" +
                                 target.cpu + "' need the same");
    }
  return Error::success();
}

Expected<std::vector<TargetDescription>> machine::resolveTargets(StringRef tripleName, StringRef mcpus) {
  SmallVector<StringRef> names;
  mcpus.split(names, ',');
  if (names.size() > 1 && llvm::is_contained(names, ""))
    return createStringError("expected names of CPUs between commas, but got '" + mcpus + "'");
  Triple triple(tripleName.empty() ? sys::getDefaultTargetTriple() : Triple::normalize(tripleName));
  if (names.size() > 1 && triple.getArch() != Triple::x86_64)
    return createStringError("expected one CPU for the triple '" + triple.str() + "', but got '" + mcpus +
                             "': a list makes code that chooses, for x86_64 only");
  std::vector<TargetDescription> targets;
  for (StringRef name : names) {
    Expected<TargetDescription> target = resolveTarget(tripleName, name);
    if (!target)
      return target.takeError();
    auto isLess = [&](const TargetDescription &other) { return capability(other) < capability(*target); };
    targets.insert(llvm::find_if(targets, isLess), std::move(*target));
  }
  if (Error error = checkDistinct(targets))
    return std::move(error);
  return targets;
}

Expected<std::vector<std::string>> machine::listCPUs(StringRef tripleName) {
  Expected<std::pair<Triple, const Target *>> resolved = resolveTriple(tripleName);
  if (!resolved)
    return resolved.takeError();
  auto [triple, backEnd] = *resolved;
  std::vector<std::string> names = {"native"};
  for (StringRef name : getKnownCPUs(*backEnd, triple))
    names.push_back(name.str());
  return names;
}

void machine::printTargets(ArrayRef<TargetDescription> targets, raw_ostream &stream) {
  stream << "target: " << targets.front().triple << "\n";
  for (const TargetDescription &target : targets)
    stream << "cpu: " << target.cpu << "\n";
}

std::vector<std::string> machine::getCPUNames(ArrayRef<TargetDescription> targets) {
  std::vector<std::string> names;
  for (const TargetDescription &target : targets)
    names.push_back(target.cpu);
  return names;
}
