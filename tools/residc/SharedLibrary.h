// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects to shared libraries, by the linker of LLVM in this process. Knows nothing of programs and kernels.

#ifndef RESID_TOOLS_RESIDC_SHAREDLIBRARY_H
#define RESID_TOOLS_RESIDC_SHAREDLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::resid::tools {

/// Whether this build has a linker; without one nothing can be linked.
bool hasLinker();

/// An ELF object as a shared library that calls itself `name`, where that is not empty. With `hasRuntime`, the library
/// has a runtime library of its own in it, and exports what makes a context for a GPU beside the functions of the
/// object. The bytes depend on these alone. The linker reads and writes files, in a folder that is removed again.
llvm::Expected<std::string> linkSharedLibrary(llvm::StringRef object, llvm::StringRef name, bool hasRuntime = false);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESIDC_SHAREDLIBRARY_H
