// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-lsp-server/HeldOutput.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir::resid::tools;

/// Puts a file after outs(), which has written what it was given.
static void setOutput(int descriptor) {
  outs().flush();
  if (dup2(descriptor, STDOUT_FILENO) < 0)
    report_fatal_error("cannot exchange standard output");
}

HeldOutput::HeldOutput(std::function<void(json::Object &)> amend, bool isPretty)
    : amend(std::move(amend)), isPretty(isPretty), editor(dup(STDOUT_FILENO)), held(memfd_create("held", MFD_CLOEXEC)) {
  if (editor < 0 || held < 0)
    report_bad_alloc_error("a file");
  setOutput(held);
}

HeldOutput::~HeldOutput() {
  forward();
  setOutput(editor);
  close(editor);
  close(held);
}

std::string HeldOutput::takeHeld() {
  outs().flush();
  auto buffer = MemoryBuffer::getOpenFile(held, "held", lseek(held, 0, SEEK_END), /*RequiresNullTerminator=*/false);
  if (!buffer)
    report_fatal_error("cannot read a file in memory");
  std::string text = (*buffer)->getBuffer().str();
  if (lseek(held, 0, SEEK_SET) < 0 || ftruncate(held, 0) < 0)
    report_fatal_error("cannot empty a file in memory");
  return text;
}

void HeldOutput::forward() {
  std::string text = takeHeld();
  StringRef rest = text;
  if (rest.empty())
    return;
  setOutput(editor);
  while (rest.consume_front("Content-Length: ")) {
    size_t length = 0;
    if (rest.consumeInteger(10, length) || !rest.consume_front("\r\n\r\n"))
      break;
    std::string message = rest.take_front(length).str();
    rest = rest.drop_front(std::min(length, rest.size()));
    // A message that is none is the editor's to refuse.
    Expected<json::Value> value = json::parse(message);
    if (json::Object *object = value ? value->getAsObject() : nullptr) {
      amend(*object);
      message = isPretty ? formatv("{0:2}", *value).str() : formatv("{0}", *value).str();
    }
    if (!value)
      consumeError(value.takeError());
    outs() << "Content-Length: " << message.size() << "\r\n\r\n" << message;
    rest = rest.ltrim("\r\n");
  }
  outs() << rest;
  setOutput(held);
}
