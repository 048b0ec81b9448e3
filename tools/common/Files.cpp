// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/Files.h"

#include "tools/common/FatalSignal.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <map>

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

Expected<std::unique_ptr<MemoryBuffer>> tools::readProgram(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path);
  StringRef text = buffer ? (*buffer)->getBuffer() : StringRef();
  if (!text.consume_front(byteOrderMark))
    return buffer;
  return MemoryBuffer::getMemBufferCopy(text, (*buffer)->getBufferIdentifier());
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

/// Standard output, devices and folders: what no file takes the place of.
static bool isShared(StringRef path) {
  return path == "-" || (sys::fs::exists(path) && !sys::fs::is_regular_file(path));
}

/// The file that a path stands for, by its absolute path without links; of one that is not there yet, its folder's.
static std::string resolveOutput(StringRef path) {
  if (isShared(path))
    return path.str();
  SmallString<256> real;
  if (!sys::fs::real_path(path, real))
    return real.str().str();
  StringRef folder = sys::path::parent_path(path);
  if (sys::fs::real_path(folder.empty() ? "." : folder, real))
    return path.str();
  sys::path::append(real, sys::path::filename(path));
  return real.str().str();
}

Error tools::checkOutputs(StringRef input, ArrayRef<StringRef> outputs) {
  std::string program = input == "-" ? "" : resolveOutput(input);
  std::map<std::string, StringRef> known;
  for (StringRef output : outputs) {
    if (output.empty())
      continue;
    std::string file = resolveOutput(output);
    auto [earlier, isNew] = known.try_emplace(file, output);
    if (output != "-" && isShared(output))
      continue;
    if (file == program)
      return createStringError("expected another file than the input for each output, but got '" + output + "'");
    if (isNew)
      continue;
    if (earlier->second == output)
      return createStringError("expected another name for each output, but got '" + output + "' twice");
    return createStringError("expected another file for each output, but '" + earlier->second + "' and '" + output +
                             "' are one");
  }
  return Error::success();
}

namespace {

/// Holds signals back from this thread while it exists.
class HeldSignals {
public:
  HeldSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

} // namespace

/// Creates a file of another name beside the target, which signals remove. Not createUniqueFile: that takes every % of
/// the path for a digit.
static std::error_code createBeside(StringRef target, int &descriptor, std::string &name) {
  HeldSignals none;
  std::error_code code;
  for (int attempt = 0; attempt < 128; ++attempt) {
    SmallString<16> digits;
    sys::fs::createUniquePath("%%%%%%%%", digits, /*MakeAbsolute=*/false);
    name = (target + "." + digits + ".part").str();
    unsigned mode = sys::fs::all_read | sys::fs::all_write;
    code = sys::fs::openFileForWrite(name, descriptor, sys::fs::CD_CreateNew, sys::fs::OF_None, mode);
    if (code == std::errc::file_exists)
      continue;
    if (!code)
      sys::RemoveFileOnSignal(name);
    return code;
  }
  return code;
}

namespace {

/// One file on its way: under a temporary name until commit().
class PendingFile {
public:
  PendingFile(StringRef path, StringRef contents) : path(path), contents(contents) {}
  PendingFile(PendingFile &&other)
      : path(other.path), contents(other.contents), target(std::move(other.target)),
        temporary(std::exchange(other.temporary, {})) {}
  ~PendingFile() {
    if (!temporary.empty())
      removeTemporary();
  }

  Error write();
  Error commit();

private:
  void removeTemporary() {
    sys::fs::remove(temporary);
    sys::DontRemoveFileOnSignal(temporary);
    temporary.clear();
  }

  StringRef path, contents;
  std::string target, temporary;
};

} // namespace

/// What has no temporary name (standard output, devices) is written in commit().
Error PendingFile::write() {
  if (isShared(path))
    return path != "-" && sys::fs::is_directory(path)
               ? fileError("write", path, std::make_error_code(std::errc::is_a_directory))
               : Error::success();
  // A symbolic link keeps pointing at its file.
  target = resolveOutput(path);
  int descriptor;
  std::string name;
  if (std::error_code code = createBeside(target, descriptor, name))
    return fileError("write", path, code);
  temporary = std::move(name);
  if (std::error_code code = writeAndClose(descriptor, contents))
    return fileError("write", path, code);
  return Error::success();
}

Error PendingFile::commit() {
  if (path == "-")
    return writeStandardOutput(contents);
  if (temporary.empty())
    return writeDirectly(path, contents);
  if (std::error_code code = sys::fs::rename(temporary, target)) {
    tools::awaitFatalSignal(); // A signal on another thread removes the file before it ends the process.
    return fileError("write", path, code);
  }
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return Error::success();
}

Error tools::writeOutputs(ArrayRef<std::pair<std::string, std::string>> files) {
  std::vector<PendingFile> pending;
  for (const auto &[path, contents] : files) {
    pending.emplace_back(path, contents);
    if (Error error = pending.back().write())
      return error;
  }
  for (PendingFile &file : pending)
    if (Error error = file.commit())
      return error;
  return Error::success();
}

Error tools::writeOutput(StringRef path, StringRef contents) { return writeOutputs({{path.str(), contents.str()}}); }
