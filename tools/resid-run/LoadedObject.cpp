// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading an object with LLVM's JIT linker. Kernels import memcpy, memset and memmove only, which this process has.

#include "tools/resid-run/LoadedObject.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"

namespace mlir::resid::run {

llvm::Expected<LoadedObject> LoadedObject::load(llvm::ArrayRef<char> object) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
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
