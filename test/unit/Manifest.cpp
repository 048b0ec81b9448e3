// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of conversions: what is recorded comes back as JSON, whatever the names are.

#include "passes/placement/Manifest.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

class ManifestTest : public ::testing::Test {
protected:
  ManifestTest() : module(ModuleOp::create(UnknownLoc::get(&context))) {}

  llvm::json::Value print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printManifest(*module, stream);
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
    EXPECT_TRUE(static_cast<bool>(parsed)) << text;
    return parsed ? *parsed : llvm::json::Value(nullptr);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ManifestTest, OneConversionIsAnObject) {
  recordConversion(*module, {"f",
                             "post",
                             "pre",
                             RewriteClass::ChangesFunction,
                             {{"gamma", ParameterAction::Move, "norm 0", "norm 1"},
                              {"", ParameterAction::Drop, "final norm", ""},
                              {"w", ParameterAction::Fold, "norm 2", ""},
                              {"final_norm_gamma", ParameterAction::New, "", "final norm"}}});
  EXPECT_EQ(print(), *llvm::json::parse(R"({"version": 1, "function": "f", "from": "post", "to": "pre",
    "class": "changes-function", "parameters": [
      {"name": "gamma", "action": "move", "from": "norm 0", "to": "norm 1"},
      {"name": null, "action": "drop", "from": "final norm", "to": null},
      {"name": "w", "action": "fold", "from": "norm 2", "to": null},
      {"name": "final_norm_gamma", "action": "new", "from": null, "to": "final norm"}]})"));
}

TEST_F(ManifestTest, SeveralOrNoneAreAnArray) {
  EXPECT_EQ(print(), llvm::json::Value(llvm::json::Array()));
  recordConversion(*module, {"f", "post", "post_shifted", RewriteClass::BitExact, {}});
  recordConversion(*module, {"g", "pre", "pre", RewriteClass::Exact, {}});
  llvm::json::Value printed = print();
  ASSERT_TRUE(printed.getAsArray() && printed.getAsArray()->size() == 2);
  const llvm::json::Array &array = *printed.getAsArray();
  EXPECT_EQ(array[0].getAsObject()->getString("class"), "bit-exact");
  EXPECT_EQ(array[1].getAsObject()->getString("class"), "exact");
  EXPECT_EQ(array[1].getAsObject()->getString("function"), "g");
}

TEST_F(ManifestTest, NamesAreEscapedAndMadeText) {
  recordConversion(
      *module, {"a\"b\\\n", "post", "pre", RewriteClass::Exact, {{"\xff", ParameterAction::Move, "norm 0", "norm 0"}}});
  llvm::json::Value printed = print();
  const llvm::json::Object *conversion = printed.getAsObject();
  ASSERT_TRUE(conversion);
  EXPECT_EQ(conversion->getString("function"), "a\"b\\\n");
  EXPECT_EQ(conversion->getArray("parameters")->front().getAsObject()->getString("name"), "\xef\xbf\xbd");
}

TEST_F(ManifestTest, AnotherAttributeOfTheNameIsReplaced) {
  Builder builder(&context);
  for (Attribute other : {Attribute(builder.getUnitAttr()), Attribute(builder.getStrArrayAttr({"x"})),
                          Attribute(builder.getArrayAttr(builder.getDictionaryAttr({})))}) {
    (*module)->setAttr(kManifestAttribute, other);
    EXPECT_EQ(print(), llvm::json::Value(llvm::json::Array()));
    recordConversion(*module, {"f", "post", "pre", RewriteClass::Exact, {}});
    EXPECT_TRUE(print().getAsObject());
  }
}

} // namespace
