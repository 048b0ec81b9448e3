// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-reduce/InterestTest.h"

#include "tools/common/FatalSignal.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace mlir;
using namespace mlir::resid::tools;

static Error cannotRun(StringRef name, const Twine &reason) {
  return createStringError("cannot run '" + name + "': " + reason);
}

static Error cannotWrite(StringRef path, std::error_code code) {
  return createStringError(code, "cannot write '" + path + "': " + code.message());
}

Expected<InterestTest> InterestTest::find(StringRef name, ArrayRef<std::string> arguments) {
  ErrorOr<std::string> program = sys::findProgramByName(name);
  if (!program || !sys::fs::exists(*program))
    return cannotRun(name, "no such program");
  if (sys::fs::is_directory(*program))
    return cannotRun(name, "is a directory");
  if (!sys::fs::can_execute(*program))
    return cannotRun(name, "not executable; 'chmod +x' makes it so");
  return InterestTest(name, std::move(*program), arguments);
}

/// The exit code; below zero after a signal.
Expected<int> InterestTest::run(ModuleOp module) const {
  SmallString<128> path;
  int descriptor;
  if (std::error_code code = sys::fs::createTemporaryFile("resid-reduce", "mlir", descriptor, path)) {
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    return cannotWrite(path, code);
  }
  ToolOutputFile file(path, descriptor); // removed on the way out, and by a signal
  file.os() << module << "\n";
  file.os().close();
  if (std::error_code code = file.os().error()) {
    file.os().clear_error();
    return cannotWrite(path, code);
  }
  SmallVector<StringRef> command = {program};
  command.append(arguments.begin(), arguments.end());
  command.push_back(path);
  std::string reason;
  int code = sys::ExecuteAndWait(program, command, /*Env=*/std::nullopt, /*Redirects=*/{}, /*SecondsToWait=*/0,
                                 /*MemoryLimit=*/0, &reason);
  // The file was taken away from the test, whose answer is about no program then.
  if (awaitFatalSignal())
    return createStringError("interrupted");
  // A shell that does not find a command ends with this code too.
  if (code == -1)
    return cannotRun(name, "it, or a command in it, was not found or is not executable (" + reason +
                               "); a script needs a first line such as '#!/bin/sh'");
  return code;
}

bool InterestTest::isInteresting(ModuleOp module) {
  if (!failure.empty())
    return false;
  Expected<int> code = run(module);
  if (!code)
    failure = toString(code.takeError());
  return failure.empty() && *code != 0;
}

Error InterestTest::takeFailure() {
  return failure.empty() ? Error::success() : createStringError(std::exchange(failure, {}));
}
