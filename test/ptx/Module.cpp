// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What users see of modules, kernels and memory.

#include "test/ptx/Decoder.h"

#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace resid::ptx;

Module::Module(std::unique_ptr<ModuleCode> code) : code(std::move(code)) {}
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;
Module::~Module() = default;

llvm::Expected<Module> Module::parse(llvm::StringRef text) {
  auto code = std::make_unique<ModuleCode>();
  code->text = text.str();
  auto parsed = parseText(code->text);
  if (!parsed)
    return parsed.takeError();
  if (llvm::Error error = decodeModule(*parsed, *code))
    return error;
  return Module(std::move(code));
}

const Kernel *Module::find(llvm::StringRef name) const { return code->kernelByName.lookup(name); }
llvm::ArrayRef<std::unique_ptr<Kernel>> Module::kernels() const { return code->kernels; }
llvm::ArrayRef<Variable> Module::variables() const { return code->variables; }
llvm::StringRef Module::target() const { return code->target; }
llvm::StringRef Module::version() const { return code->version; }

llvm::StringRef Kernel::name() const { return function.name; }
llvm::ArrayRef<Parameter> Kernel::parameters() const { return function.parameters; }
unsigned Kernel::parameterBytes() const { return function.parameterBytes; }
uint64_t Kernel::staticSharedBytes() const { return function.sharedBytes; }

Memory::Memory() = default;
Memory::Memory(Memory &&) noexcept = default;
Memory &Memory::operator=(Memory &&) noexcept = default;
Memory::~Memory() = default;

void Memory::add(void *begin, uint64_t bytes, llvm::StringRef name) {
  auto address = reinterpret_cast<uint64_t>(begin);
  auto after = llvm::upper_bound(regions, address, [](uint64_t a, const auto &region) { return a < region->begin; });
  assert((after == regions.end() || address + bytes <= (*after)->begin) && "arrays overlap");
  assert((after == regions.begin() || (*std::prev(after))->end <= address) && "arrays overlap");
  regions.insert(after, std::make_unique<Region>(address, bytes, name.str(), Space::Global));
}

void Memory::remove(void *begin) {
  llvm::erase_if(regions, [&](const auto &region) { return region->begin == reinterpret_cast<uint64_t>(begin); });
}
