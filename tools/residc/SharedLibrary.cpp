// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedLibrary.h.

#include "tools/residc/SharedLibrary.h"

#include "tools/common/Files.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

#ifdef RESID_HAS_LINKER
#include "lld/Common/Driver.h"

LLD_HAS_DRIVER(elf)

// The static runtime library, whole.
__asm__(".pushsection .rodata\n"
        "resid_runtime_archive:\n"
        ".incbin \"" RESID_RUNTIME_ARCHIVE "\"\n"
        "resid_runtime_archive_end:\n"
        ".popsection\n");
extern "C" const char resid_runtime_archive[], resid_runtime_archive_end[];

bool mlir::resid::tools::hasLinker() { return true; }

Expected<std::string> mlir::resid::tools::linkSharedLibrary(StringRef object, StringRef name, bool hasRuntime) {
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("residc", folder))
    return createStringError(code, "cannot create a folder for the linker in '%s': %s",
                             sys::path::parent_path(folder).str().c_str(), code.message().c_str());
  scope_exit remove([&] { sys::fs::remove_directories(folder); });
  std::string input = (folder + "/kernels.o").str(), output = (folder + "/kernels.so").str();
  if (Error error = writeOutput(input, object))
    return std::move(error);
  std::string soname = ("-soname=" + name).str(), messages;
  SmallVector<const char *> arguments = {
      "ld.lld", "-shared",      "--build-id=none",   "--gc-sections",          "-znoexecstack",
      "-znow",  "-zrelro",      "--hash-style=both", "--no-undefined-version", "--threads=1",
      "-o",     output.c_str(), input.c_str()};
  if (!name.empty())
    arguments.push_back(soname.c_str());
  std::string archive = (folder + "/runtime.a").str();
  if (hasRuntime) {
    if (Error error =
            writeOutput(archive, StringRef(resid_runtime_archive, resid_runtime_archive_end - resid_runtime_archive)))
      return std::move(error);
    // Several libraries in a process have a runtime each, and none calls another one's.
    arguments.append({"-Bsymbolic", "-u", "resid_cuda_ctx_init", "-u", "resid_cuda_unload", archive.c_str()});
  }
  raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("the linker failed: " + StringRef(messages).trim());
  Expected<std::unique_ptr<MemoryBuffer>> library = readInput(output);
  if (!library)
    return library.takeError();
  return (*library)->getBuffer().str();
}

#else

bool mlir::resid::tools::hasLinker() { return false; }

Expected<std::string> mlir::resid::tools::linkSharedLibrary(StringRef, StringRef, bool) {
  return createStringError("this build has no linker");
}

#endif
