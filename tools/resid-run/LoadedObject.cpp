// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading an object with LLVM's JIT linker. Kernels import memcpy, memset and memmove only, which
// this process has, and those for GPUs functions of the runtime.

#include "tools/resid-run/LoadedObject.h"
#include "runtime/cuda/resid_cuda.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"

namespace mlir::resid::run {

/// What kernels for GPUs ask of the runtime, which is a part of this program.
static llvm::orc::SymbolMap getRuntimeSymbols(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Callable};
  };
  add("resid_cuda_load_v1", resid_cuda_load_v1);
  add("resid_cuda_launch_v1", resid_cuda_launch_v1);
  add("resid_cuda_copy_v1", resid_cuda_copy_v1);
  add("resid_cuda_fill_v1", resid_cuda_fill_v1);
  return symbols;
}

llvm::Expected<LoadedObject> LoadedObject::load(llvm::ArrayRef<char> object) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(getRuntimeSymbols(**jit))))
    return std::move(error);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "kernels");
  if (llvm::Error error = (*jit)->addObjectFile(std::move(buffer)))
    return std::move(error);
  LoadedObject loaded;
  loaded.jit = std::move(*jit);
  return loaded;
}

llvm::Expected<LoadedObject::PackedFunction> LoadedObject::lookUp(llvm::StringRef function) {
  auto address = jit->lookup((function + "__packed").str());
  if (!address)
    return address.takeError();
  return address->toPtr<PackedFunction>();
}

} // namespace mlir::resid::run
