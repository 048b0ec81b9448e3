// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files in and out; see Files.h.

#include "tools/common/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir::resid;

static Error fileError(const Twine &verb, StringRef path, std::error_code code) {
  return createStringError(code, "cannot " + verb + " '" + path + "': " + code.message());
}

Expected<std::unique_ptr<MemoryBuffer>> tools::readInput(StringRef path) {
  if (path != "-" && sys::fs::is_directory(path))
    return fileError("read", path, std::make_error_code(std::errc::is_a_directory));
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return fileError("read", path, buffer.getError());
  return std::move(*buffer);
}

/// Writes and closes; a full disk shows at the latest on closing.
static std::error_code writeAndClose(int descriptor, StringRef contents) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << contents;
  stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

static Error writeDirectly(StringRef path, StringRef contents) {
  int descriptor;
  if (std::error_code code = sys::fs::openFileForWrite(path, descriptor, sys::fs::CD_OpenExisting))
    return fileError("write", path, code);
  if (std::error_code code = writeAndClose(descriptor, contents))
    return fileError("write", path, code);
  return Error::success();
}

static Error writeStandardOutput(StringRef contents) {
  outs() << contents;
  outs().flush();
  std::error_code code = outs().error();
  outs().clear_error();
  return code ? fileError("write", "<stdout>", code) : Error::success();
}

Error tools::writeOutput(StringRef path, StringRef contents) {
  if (path == "-")
    return writeStandardOutput(contents);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) && !sys::fs::is_regular_file(status)) {
    if (sys::fs::is_directory(status))
      return fileError("write", path, std::make_error_code(std::errc::is_a_directory));
    return writeDirectly(path, contents);
  }
  SmallString<256> target(path);
  sys::fs::real_path(path, target); // a symbolic link keeps pointing at its file; fails harmlessly for a new file
  if (target.empty())
    target = path;
  int descriptor;
  SmallString<256> temporary;
  unsigned mode = sys::fs::all_read | sys::fs::all_write;
  if (std::error_code code = sys::fs::createUniqueFile(target + ".%%%%%%%%.part", descriptor, temporary,
                                                       sys::fs::OF_None, static_cast<sys::fs::perms>(mode)))
    return fileError("write", path, code);
  std::error_code code = writeAndClose(descriptor, contents);
  if (!code)
    code = sys::fs::rename(temporary, target);
  if (!code)
    return Error::success();
  sys::fs::remove(temporary);
  return fileError("write", path, code);
}
