// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/residc/StageDump.h"

#include "tools/common/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::tools;

std::string mlir::resid::tools::print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

void StageDump::open() {
  std::error_code code = llvm::sys::fs::create_directories(folder);
  if (!code && !llvm::sys::fs::is_directory(folder))
    code = std::make_error_code(std::errc::not_a_directory);
  if (code)
    failure = "cannot make the folder '" + folder + "': " + code.message();
}

void StageDump::write(StringRef name, StringRef text) {
  if (!failure.empty())
    return;
  SmallString<128> path(folder);
  llvm::sys::path::append(path, llvm::Twine(stages / 10) + llvm::Twine(stages % 10) + "-" + name);
  ++stages;
  if (llvm::Error error = writeOutput(path, text))
    failure = llvm::toString(std::move(error));
}

void StageDump::add(StringRef stage, ModuleOp module) {
  if (isWanted())
    write((stage + ".mlir").str(), print(module));
}

void StageDump::add(const CompiledModule &compiled) {
  if (!isWanted())
    return;
  // Writing assembly changes the module.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*compiled.code);
  for (auto [name, kind] :
       {std::pair("llvm.ll", machine::CodeKind::LLVM), std::pair("assembly.s", machine::CodeKind::Assembly)}) {
    SmallVector<char> bytes;
    if (succeeded(machine::writeCode(*copy, compiled.target->getProcessors(), kind, bytes)))
      write(name, StringRef(bytes.data(), bytes.size()));
  }
}
