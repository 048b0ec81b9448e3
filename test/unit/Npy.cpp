// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .npy format: what NumPy writes is read, what is written NumPy reads, and nothing malformed gets through.

#include "tools/npy/Npy.h"

#include "gtest/gtest.h"
#include <random>

using namespace mlir::resid::npy;

namespace {

std::string withHeader(llvm::StringRef dictionary, llvm::StringRef data, char major = 1) {
  std::string text = dictionary.str() + "\n", file = "\x93NUMPY";
  file += major;
  file += '\0';
  for (int i = 0; i != (major == 1 ? 2 : 4); ++i)
    file += static_cast<char>(text.size() >> (8 * i));
  return file + text + data.str();
}

std::string errorOf(llvm::StringRef buffer) {
  llvm::Expected<View> view = parse(buffer);
  return view ? "" : llvm::toString(view.takeError());
}

TEST(Npy, RoundTripsShapes) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{}, {3}, {2, 0, 5}, {1, 2, 3}}) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    std::string file = makeHeader("<f4", shape);
    EXPECT_EQ(file.size() % 64, 0u);
    file.append(count * 4, '\x7f');
    llvm::Expected<View> view = parse(file);
    ASSERT_TRUE(bool(view)) << llvm::toString(view.takeError());
    EXPECT_EQ(std::vector<int64_t>(view->shape.begin(), view->shape.end()), shape);
    EXPECT_EQ(view->describe(), "<f4");
    EXPECT_EQ(view->data.size(), count * 4);
  }
}

/// Byte for byte what NumPy writes.
TEST(Npy, WritesTheHeaderOfNumPy) {
  auto dictionaryOf = [](llvm::StringRef descr, llvm::ArrayRef<int64_t> shape) {
    return llvm::StringRef(makeHeader(descr, shape)).drop_front(10).rtrim().str();
  };
  EXPECT_EQ(dictionaryOf("<f4", {1, 62, 120}), "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 62, 120), }");
  EXPECT_EQ(dictionaryOf("<f4", {}), "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
  EXPECT_EQ(dictionaryOf("|b1", {7}), "{'descr': '|b1', 'fortran_order': False, 'shape': (7,), }");
}

TEST(Npy, ReadsAllVersionsAndSpellings) {
  for (char major : {1, 2, 3}) {
    std::string file = withHeader("{\"shape\": (2L, 1), 'fortran_order': False, 'descr': '|V2'}", "abcd", major);
    llvm::Expected<View> view = parse(file);
    ASSERT_TRUE(bool(view)) << llvm::toString(view.takeError());
    EXPECT_EQ(view->describe(), "|V2");
    EXPECT_EQ(view->data, "abcd");
  }
}

TEST(Npy, AcceptsFortranOrderOfVectors) {
  EXPECT_EQ(errorOf(withHeader("{'descr': '<i2', 'fortran_order': True, 'shape': (2,), }", "abcd")), "");
  EXPECT_EQ(errorOf(withHeader("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1), }", "abcd")),
            "expected an array in C order but got Fortran order");
}

TEST(Npy, RefusesMalformedFiles) {
  auto dictionary = [](llvm::StringRef type, llvm::StringRef shape) {
    return withHeader(("{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }").str(), "abcd");
  };
  EXPECT_EQ(errorOf(""), "expected a .npy file but got one that starts with ''");
  EXPECT_EQ(errorOf("PK\x03\x04zip"), "expected a .npy file but got one that starts with 'PK??zi'");
  EXPECT_EQ(errorOf("\x93NUMPY\x01"), "expected a .npy header but the file ends after 7 bytes");
  EXPECT_EQ(errorOf(llvm::StringRef("\x93NUMPY\x04\0\0\0", 10)), "expected .npy version 1.0, 2.0 or 3.0 but got 4.0");
  EXPECT_EQ(errorOf(llvm::StringRef("\x93NUMPY\x01\0\x40\0{", 11)),
            "expected a .npy header of 64 bytes but the file has 1");
  EXPECT_EQ(errorOf(dictionary("'>f4'", "(1,)")), "expected little-endian elements but got '>f4'");
  EXPECT_EQ(errorOf(dictionary("'|O'", "(1,)")), "expected an element type such as '<f4' but got '|O'");
  EXPECT_EQ(errorOf(dictionary("[('a', '<f4')]", "(1,)")),
            "expected an array of numbers but got an array of structures");
  EXPECT_EQ(errorOf(dictionary("'<f4'", "(2,)")), "expected 8 bytes of data after the .npy header but got 4");
  EXPECT_EQ(errorOf(dictionary("'<f2'", "(1,)")), "expected 2 bytes of data after the .npy header but got 4");
  EXPECT_EQ(errorOf(dictionary("'<f4'", "(1)")), "expected a tuple as the shape but got a number");
  EXPECT_EQ(errorOf(dictionary("'<f4'", "(-1,)")), "expected a size in the .npy header but got '-1,), }?'");
  EXPECT_EQ(errorOf(dictionary("'<f4'", "(99999999999999999999,)")).substr(0, 15), "expected a size");
  EXPECT_EQ(errorOf(dictionary("'<f4'", "(4611686018427387904, 4, 3)")), "expected an array of at most 2^47 bytes");
  EXPECT_EQ(errorOf(withHeader("{'descr': '<f4', 'shape': (1,), }", "abcd")),
            "expected 'descr', 'fortran_order' and 'shape' in the .npy header");
  EXPECT_EQ(errorOf(withHeader("{'descr': '<f4', 'descr': '<f4', }", "")),
            "expected one 'descr' in the .npy header but got two");
  EXPECT_EQ(errorOf(withHeader("['descr']", "")), "expected '{' in the .npy header but got '['descr']?'");
  EXPECT_EQ(errorOf(withHeader("{descr: '<f4'}", "")), "expected a string in the .npy header but got 'descr: '<f4'}?'");
  EXPECT_EQ(errorOf(withHeader("{'fortran_order': 0}", "")), "expected True or False for 'fortran_order' but got '0}?'");
  EXPECT_EQ(errorOf(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "abcd")),
            "expected the end of the .npy header but got 'x'");
  std::string shape = "(";
  for (int dimension = 0; dimension < 65; ++dimension)
    shape += "1, ";
  EXPECT_EQ(errorOf(dictionary("'<f4'", shape + ")")), "expected at most 64 dimensions in the .npy header but got more");
}

/// No byte of the header, changed to anything, may lead outside of the buffer.
TEST(Npy, SurvivesMutations) {
  std::string file = makeHeader("<f4", {2, 3});
  file.append(24, '\0');
  std::mt19937 random(1);
  for (int i = 0; i != 20000; ++i) {
    std::string mutant = file;
    for (unsigned changes = 1 + random() % 3; changes; --changes)
      mutant[random() % mutant.size()] = static_cast<char>(random());
    mutant.resize(random() % 8 ? mutant.size() : random() % mutant.size());
    llvm::Expected<View> view = parse(mutant);
    if (!view) {
      EXPECT_FALSE(llvm::toString(view.takeError()).empty());
      continue;
    }
    EXPECT_TRUE(view->data.empty() || view->data.end() == llvm::StringRef(mutant).end());
  }
}

} // namespace
