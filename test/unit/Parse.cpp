// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text to module: a program that is cut off anywhere, or has any one byte changed, is a module or an error with
// its place, and a long line is not printed.

#include "tools/common/Parse.h"
#include "codegen/Pipelines.h"
#include "tools/common/Diagnostics.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

constexpr llvm::StringLiteral program = R"(#map = affine_map<(d0, d1) -> (d0 + d1 * 2)>
!t = tensor<?x64xf32>
func.func @post(%x: !t, %f: tensor<?x64xf32>, %gamma: tensor<64xf32>, %seed: i64, %step: i64) -> (!t, !t)
    attributes {text = "a \"string\" \5C", m = #map} {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.25, site = 3} : tensor<?x64xf32> // half
  %s = resid.add %x, %d {skip_scale = 1.5} : !t
  %y, %r = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : !t, tensor<64xf32> -> !t, tensor<?xf32>
  %z, %t = resid.add_norm layer %x, %f gamma(%gamma) {epsilon = 1.0e-5} : !t, tensor<64xf32>
  return %y, %z : !t, !t loc("in.mlir":1:2)
}
)";

class Parse : public ::testing::Test {
protected:
  Parse() : context(makeRegistry(), MLIRContext::Threading::DISABLED) { context.printOpOnDiagnostic(false); }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }

  bool parse(llvm::StringRef text) {
    messages.clear();
    llvm::raw_string_ostream stream(messages);
    llvm::SourceMgr sourceManager;
    tools::DiagnosticPrinter printer(sourceManager, context, stream);
    return static_cast<bool>(
        tools::parseModule(llvm::MemoryBuffer::getMemBufferCopy(text, "in.mlir"), sourceManager, context));
  }

  /// A module, or an error with its place.
  void expectAnswer(llvm::StringRef text) {
    if (!parse(text)) {
      EXPECT_TRUE(llvm::StringRef(messages).starts_with("in.mlir:")) << messages << " for\n" << text.str();
      EXPECT_NE(messages.find(": error: "), std::string::npos) << messages << " for\n" << text.str();
    }
  }

  MLIRContext context;
  std::string messages;
};

TEST_F(Parse, TakesTheProgram) { EXPECT_TRUE(parse(program)) << messages; }

TEST_F(Parse, AnswersWhereverTheTextEnds) {
  for (size_t size = 0; size < program.size(); ++size)
    expectAnswer(program.take_front(size));
}

TEST_F(Parse, AnswersWithoutAnyPart) {
  for (size_t size : {1, 3, 17})
    for (size_t start = 0; start + size <= program.size(); ++start)
      expectAnswer((program.take_front(start) + program.drop_front(start + size)).str());
}

TEST_F(Parse, AnswersWithAnyByteChanged) {
  std::string text = program.str();
  for (char &place : text) {
    char old = place;
    for (char c : {'\0', '\n', '"', '(', '}', '>', '-', '9', '\xFF'}) {
      place = c;
      expectAnswer(text);
    }
    place = old;
  }
}

TEST_F(Parse, DoesNotPrintALongLine) {
  EXPECT_FALSE(parse("func.func @f() {\n  " + std::string(100000, 'x') + "\n}\n"));
  EXPECT_LT(messages.size(), 2 * tools::maxPrintedLine);
  EXPECT_TRUE(llvm::StringRef(messages).starts_with("in.mlir:2:3: error: custom op 'xxx")) << messages;
}

TEST_F(Parse, PrintsAShortLineBesideLongOnes) {
  EXPECT_FALSE(parse("// " + std::string(100000, 'x') + "\nhello\n// " + std::string(100000, 'x')));
  EXPECT_NE(messages.find("\nhello\n^"), std::string::npos) << messages;
}

} // namespace
