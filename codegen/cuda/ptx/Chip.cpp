// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/ptx/Chip.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

/// Kernels use what sm_80 (Ampere) has: maxima that hand NaNs on, and conversions to bf16.
static constexpr unsigned kLeastNumber = 80;
static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

static void initializeBackEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// The number in sm_90, where it is one: sm_90a runs on no later chip, so nothing is compiled for such names.
static std::optional<unsigned> getNumber(StringRef name) {
  unsigned number;
  if (!name.consume_front("sm_") || name.getAsInteger(10, number) || number < kLeastNumber)
    return std::nullopt;
  return number;
}

static std::vector<std::string> listChips(const TargetMachine &machine) {
  std::vector<std::string> names;
  for (const SubtargetSubTypeKV &chip : machine.getMCSubtargetInfo()->getAllProcessorDescriptions())
    if (getNumber(chip.Key))
      names.push_back(chip.Key);
  llvm::sort(names, [](StringRef a, StringRef b) { return *getNumber(a) < *getNumber(b); });
  return names;
}

static std::unique_ptr<TargetMachine> createMachine(StringRef chip) {
  initializeBackEnd();
  std::string error;
  Triple triple(kTriple);
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  // Without features LLVM takes the least PTX version that has the chip.
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, chip, /*Features=*/"", TargetOptions(), Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Aggressive));
}

Expected<std::vector<Chip>> cuda::resolveChips(StringRef list) {
  std::vector<std::string> known = listChips(*createMachine(kDefaultChip));
  std::vector<Chip> chips;
  for (StringRef name : llvm::split(list, ',')) {
    if (!llvm::is_contained(known, name))
      return createStringError("expected a chip of " + join(known, ", ") + ", but got '" + name + "'");
    if (llvm::any_of(chips, [&](const Chip &chip) { return chip.name == name; }))
      return createStringError("expected different chips, but got '" + name + "' twice");
    chips.push_back({name.str(), *getNumber(name), createMachine(name)});
  }
  llvm::sort(chips, [](const Chip &a, const Chip &b) { return a.number < b.number; });
  return chips;
}
