// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/ptx/Assemble.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::resid;
using namespace llvm;

std::string cuda::findAssembler() {
  if (std::optional<std::string> named = sys::Process::GetEnv("RESID_PTXAS"))
    return sys::fs::can_execute(*named) ? *named : "";
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  ErrorOr<std::string> usual = sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  return usual ? *usual : "";
}

namespace {

/// A file that is there as long as this is.
struct TemporaryFile {
  explicit TemporaryFile(StringRef suffix)
      : error(sys::fs::createTemporaryFile("resid", suffix, path)), remover(path) {}
  SmallString<128> path;
  std::error_code error;
  FileRemover remover;
};

} // namespace

static std::string read(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

Expected<std::string> cuda::assemble(StringRef assembler, StringRef ptx, const Chip &chip) {
  TemporaryFile text("ptx"), code("cubin"), log("log");
  for (const TemporaryFile *file : {&text, &code, &log})
    if (file->error)
      return createStringError(file->error, "cannot make a temporary file: " + file->error.message());
  std::error_code error;
  raw_fd_ostream stream(text.path, error);
  stream << ptx;
  stream.close();
  if (!error)
    error = stream.error();
  stream.clear_error(); // It is reported here; the stream would end the process.
  if (error)
    return createStringError(error, "cannot write " + text.path.str() + ": " + error.message());
  std::string architecture = "-arch=" + chip.name, message;
  std::optional<StringRef> redirects[] = {"", StringRef(log.path), StringRef(log.path)};
  int exit = sys::ExecuteAndWait(assembler, {assembler, architecture, text.path, "-o", code.path}, std::nullopt,
                                 redirects, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  std::string said = read(log.path), made = read(code.path);
  if (exit == 0 && !made.empty())
    return made;
  return createStringError(inconvertibleErrorCode(),
                           assembler + " made no code for " + chip.name + ": " + (said.empty() ? message : said));
}
