// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading inputs and writing outputs so that a failed or killed run leaves old files as they were; "-" is standard
// input or output. Does not own what is read or written.

#ifndef RESID_TOOLS_COMMON_FILES_H
#define RESID_TOOLS_COMMON_FILES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace mlir::resid::tools {

/// U+FEFF in UTF-8.
constexpr llvm::StringLiteral byteOrderMark = "\xEF\xBB\xBF";

/// The whole file, or standard input. The error text has the form "cannot read 'F': reason".
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path);

/// As readInput, of a program: without the byte-order mark that some editors put before text in UTF-8.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readProgram(llvm::StringRef path);

/// Writes the whole file under a temporary name beside it and renames it, so that `path` is the old or the new file,
/// never half of one. The error text has the form "cannot write 'F': reason". Devices such as /dev/null are written
/// directly.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef contents);

/// An error if two outputs are one file, also by links or other spelling, since only the last bytes would stay. Also an
/// error if an output is the input, which it would destroy. Empty names are no outputs.
llvm::Error checkOutputs(llvm::StringRef input, llvm::ArrayRef<llvm::StringRef> outputs);

/// writeOutput for several files (path, contents): none takes its place before all are written, so that a failure
/// leaves all of the old ones.
llvm::Error writeOutputs(llvm::ArrayRef<std::pair<std::string, std::string>> files);

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_FILES_H
