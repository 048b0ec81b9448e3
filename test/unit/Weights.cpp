// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of weights: what follows the safetensors format is read, what does not is refused with the reason, and
// functions get the tensors that they ask for. Files on disk: test/embed/weights-file.test. Built without LLVM for
// sanitizers.

#include "runtime/resid_runtime.h"
#include "test/unit/WeightReading.h"

#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace {

std::string makeFile(const std::string &header, size_t dataBytes = 0) {
  std::string file;
  for (size_t i = 0; i != 8; ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  file += header;
  for (size_t i = 0; i != dataBytes; ++i)
    file += static_cast<char>(i);
  return file;
}

std::string refusalOfHeader(const std::string &header, size_t dataBytes = 0) {
  return refusalOf(makeFile(header, dataBytes));
}

const char one[] = R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";

TEST(Weights, ReadsTensors) {
  Reading reading(makeFile(R"({"__metadata__": {"format": "pt", "a": ""},
    "z.bias" : {"data_offsets":[4, 4],"shape":[0,7],"dtype":"F64"},	"b":{"dtype":"BF16","shape":[],"data_offsets":[4,6]},
    "a\u00e9\"\ud83d\ude00":{"shape":[1 , 2],"dtype":"U16","data_offsets":[0,4]} }  )"
                           "\n",
                           6));
  ASSERT_EQ(reading.status, RESID_OK) << reading.text;
  EXPECT_STREQ(reading.text, "");
  ASSERT_EQ(resid_weights_count(reading.weights), 3);
  resid_weight found;
  const void *data;
  ASSERT_EQ(resid_weights_get(reading.weights, 0, &found, &data), RESID_OK);
  EXPECT_STREQ(found.name, "a\u00e9\"\U0001F600");
  EXPECT_STREQ(found.dtype, "U16");
  EXPECT_EQ(std::vector<int64_t>(found.shape, found.shape + found.rank), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(data, reading.bytes.data() + reading.bytes.size() - 6);
  ASSERT_EQ(resid_weights_get(reading.weights, 1, &found, &data), RESID_OK);
  EXPECT_STREQ(found.name, "b");
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.shape, nullptr);
  EXPECT_EQ(data, reading.bytes.data() + reading.bytes.size() - 2);
  ASSERT_EQ(resid_weights_get(reading.weights, 2, &found, nullptr), RESID_OK);
  EXPECT_STREQ(found.name, "z.bias");
  EXPECT_EQ(found.shape[1], 7);
  EXPECT_EQ(resid_weights_get(reading.weights, 3, &found, &data), RESID_BAD_VALUE);
  EXPECT_EQ(resid_weights_get(reading.weights, -1, nullptr, nullptr), RESID_BAD_VALUE);
}

TEST(Weights, ReadsFilesWithoutTensors) {
  for (const char *header : {"{}", "{ }       ", R"({"__metadata__":{}})"}) {
    Reading reading(makeFile(header));
    EXPECT_EQ(reading.status, RESID_OK) << reading.text;
    EXPECT_EQ(resid_weights_count(reading.weights), 0);
  }
}

/// Every type of the format, with the bytes of eight elements.
TEST(Weights, KnowsElementTypes) {
  const std::pair<const char *, size_t> types[] = {
      {"BOOL", 8},        {"U8", 8},          {"I8", 8},      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},        {"F32", 32},    {"F64", 64},    {"I64", 64},    {"U64", 64},
      {"C64", 64},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}};
  for (auto [type, bytes] : types) {
    std::string end = std::to_string(bytes);
    Reading reading(makeFile(
        std::string(R"({"w":{"dtype":")") + type + R"(","shape":[8],"data_offsets":[0,)" + end + "]}}", bytes));
    EXPECT_EQ(reading.status, RESID_OK) << type << ": " << reading.text;
    std::string odd = std::to_string(bytes + 1);
    EXPECT_EQ(
        refusalOfHeader(std::string(R"({"w":{"dtype":")") + type + R"(","shape":[8],"data_offsets":[0,)" + odd + "]}}",
                        bytes + 1),
        "tensor 'w': expected data_offsets of " + end + " bytes, as many as " + type + " [8] takes, but got [0, " +
            odd + "]");
  }
  EXPECT_EQ(refusalOfHeader(R"({"w":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2),
            "tensor 'w': expected a whole number of bytes below 2^60, but got F4 [3]");
  EXPECT_EQ(refusalOfHeader(R"({"w":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}})", 4),
            "tensor 'w': expected a dtype of the format, but got 'f32'");
}

TEST(Weights, ChecksLengths) {
  EXPECT_EQ(refusalOf(""), "expected the 8 bytes of the header's length, but the file has 0");
  EXPECT_EQ(refusalOf("1234567"), "expected the 8 bytes of the header's length, but the file has 7");
  EXPECT_EQ(refusalOf(std::string(8, '\0')), "expected a header that begins with '{', but it is empty");
  EXPECT_EQ(refusalOf(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
            "expected a header of 3 bytes, as its length says, but 2 follow");
  EXPECT_EQ(refusalOf(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)),
            "expected a header of at most 100000000 bytes, but its length says 100000001");
  EXPECT_EQ(refusalOf(std::string(16, '\xff')),
            "expected a header of at most 100000000 bytes, but its length says 18446744073709551615");
  EXPECT_EQ(refusalOfHeader(" {}"), "expected a header that begins with '{', but it does not");
  EXPECT_EQ(refusalOfHeader("{}", 1), "expected 0 bytes after the header, where the last tensor ends, but got 1");
  EXPECT_EQ(refusalOfHeader(one, 23), "expected 24 bytes after the header, where the last tensor ends, but got 23");
}

std::string tensor(const std::string &name, const std::string &offsets, const std::string &shape = "[4]") {
  return "\"" + name + R"(":{"dtype":"U8","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST(Weights, ChecksOffsets) {
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,4]") + "," + tensor("b", "[5,9]") + "}", 9),
            "tensor 'b': expected data_offsets from 4, where the tensor before ends, but got [5, 9]");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,4]") + "," + tensor("b", "[3,7]") + "}", 7),
            "tensor 'b': expected data_offsets from 4, where the tensor before ends, but got [3, 7]");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,4]") + "," + tensor("b", "[0,4]") + "}", 4).substr(0, 36),
            "tensor 'b': expected data_offsets fr");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[4,0]") + "}", 4),
            "tensor 'a': expected data_offsets from 0, where the tensor before ends, but got [4, 0]");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,4]") + "," + tensor("b", "[4,2]") + "}", 4),
            "tensor 'b': expected data_offsets from 4, where the tensor before ends, but got [4, 2]");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,5]", "[4]") + "}", 5),
            "tensor 'a': expected data_offsets of 4 bytes, as many as U8 [4] takes, but got [0, 5]");
  // In any order of the header, and with tensors that have no bytes in between.
  Reading reading(
      makeFile("{" + tensor("c", "[4,8]") + "," + tensor("b", "[4,4]", "[0]") + "," + tensor("a", "[0,4]") + "}", 8));
  EXPECT_EQ(reading.status, RESID_OK) << reading.text;
}

TEST(Weights, ChecksOverflow) {
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,0]", "[4294967296,4294967296]") + "}"),
            "tensor 'a': expected a whole number of bytes below 2^60, but got U8 [4294967296, 4294967296]");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,0]", "[2305843009213693952]") + "}"),
            "tensor 'a': expected a whole number of bytes below 2^60, but got U8 [2305843009213693952]");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,9223372036854775808]") + "}"),
            "expected a number of at most 2^63 - 1 at byte 49 of the header, but got '9'");
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,9223372036854775807]") + "}"),
            "tensor 'a': expected data_offsets of 4 bytes, as many as U8 [4] takes, but got [0, 9223372036854775807]");
}

TEST(Weights, RefusesKeys) {
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,4]") + "," + tensor("\\u0061", "[4,8]") + "}", 8),
            "tensor 'a': expected one tensor of that name, but got two");
  EXPECT_EQ(refusalOfHeader(R"({"a":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1),
            "tensor 'a': expected one dtype, but got two");
  EXPECT_EQ(refusalOfHeader(R"({"a":{"dtype":"U8","shape":[],"shape":[],"data_offsets":[0,1]}})", 1),
            "tensor 'a': expected one shape, but got two");
  EXPECT_EQ(refusalOfHeader(R"({"a":{"dtype":"U8","shape":[],"strides":[]}})", 1),
            "tensor 'a': expected dtype, shape and data_offsets, but got 'strides'");
  EXPECT_EQ(refusalOfHeader(R"({"a":{"dtype":"U8","shape":[]}})"),
            "tensor 'a': expected dtype, shape and data_offsets, but data_offsets is missing");
  EXPECT_EQ(refusalOfHeader(R"({"a":{"shape":[],"data_offsets":[0,1]}})", 1),
            "tensor 'a': expected dtype, shape and data_offsets, but dtype is missing");
  EXPECT_EQ(refusalOfHeader(R"({"__metadata__":{"a":"1"},"__metadata__":{}})"),
            "expected one '__metadata__' in the header, but got two");
  EXPECT_EQ(refusalOfHeader(R"({"__metadata__":{"a":"1","b":"2","a":"1"}})"),
            "expected keys of '__metadata__' that differ, but got 'a' twice");
}

TEST(Weights, RefusesText) {
  const std::pair<const char *, const char *> cases[] = {
      {"{", "expected a string at byte 1 of the header, but it ends there"},
      {"{}}", "expected nothing but spaces at byte 2 of the header, but got '}'"},
      {R"({"a")", "expected ':' at byte 4 of the header, but it ends there"},
      {R"({"a":[]})", "expected '{' at byte 5 of the header, but got '['"},
      {R"({"a":{}})", "expected a string at byte 6 of the header, but got '}'"},
      {R"({"a":{"dtype":7}})", "expected a string at byte 14 of the header, but got '7'"},
      {R"({"a":{"shape":[1.0]}})", "expected a whole number at byte 15 of the header, but got '1'"},
      {R"({"a":{"shape":[1e1]}})", "expected a whole number at byte 15 of the header, but got '1'"},
      {R"({"a":{"shape":[01]}})", "expected a whole number at byte 15 of the header, but got '0'"},
      {R"({"a":{"shape":[-1]}})", "expected a whole number at byte 15 of the header, but got '-'"},
      {R"({"a":{"shape":[1,]}})", "expected a whole number at byte 17 of the header, but got ']'"},
      {R"({"a":{"shape":[1 2]}})", "expected ',' or ']' at byte 17 of the header, but got '2'"},
      {R"({"a":{"data_offsets":[1,2,3]}})", "expected ']' at byte 25 of the header, but got ','"},
      {R"({"a":{"shape":[[[[]]]]}})", "expected a whole number at byte 15 of the header, but got '['"},
      {R"({"__metadata__":null})", "expected '{' at byte 16 of the header, but got 'n'"},
      {R"({"__metadata__":{"a":1}})", "expected a string at byte 21 of the header, but got '1'"},
      {R"({"__metadata__":{"a":"1",}})", "expected a string at byte 25 of the header, but got '}'"},
      {R"({"\x":{}})", "expected one of \"\\/bfnrtu after a backslash at byte 3 of the header, but got 'x'"},
      {R"({"\u12g4":{}})", "expected a hexadecimal digit at byte 6 of the header, but got 'g'"},
      {R"({"\u12)", "expected a hexadecimal digit at byte 6 of the header, but it ends there"},
      {R"({"\ud800":{}})", "expected both halves of a surrogate pair at byte 8 of the header, but got '\"'"},
      {R"({"\udc00\ud800":{}})", "expected both halves of a surrogate pair at byte 8 of the header, but got '\\'"},
      {R"({"\ud800\u0041":{}})",
       "expected the second half of a surrogate pair before here at byte 14 of the header, but got '\"'"},
      {R"({"a\u0000":{}})", "expected no zero byte in a string before here at byte 9 of the header, but got '\"'"},
      {"{\"a\nb\":{}}", "expected no control character in a string at byte 3 of the header, but got byte 0x0a"},
      {"{\"a", "expected the end of a string at byte 3 of the header, but it ends there"},
      {"{\"a\\", "expected one of \"\\/bfnrtu after a backslash at byte 4 of the header, but it ends there"},
  };
  for (auto [header, refusal] : cases)
    EXPECT_EQ(refusalOfHeader(header), refusal) << header;
}

/// The bounds of the Unicode standard's table of well-formed UTF-8.
TEST(Weights, ChecksUTF8) {
  for (const char *name : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    Reading reading(makeFile("{" + tensor(name, "[0,4]") + "}", 4));
    ASSERT_EQ(reading.status, RESID_OK) << reading.text;
    resid_weight found;
    ASSERT_EQ(resid_weights_get(reading.weights, 0, &found, nullptr), RESID_OK);
    EXPECT_STREQ(found.name, name);
  }
  for (const char *name :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe2\x82", "\xe2\x82\x41",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_EQ(refusalOfHeader("{" + tensor(name, "[0,4]") + "}", 4).substr(0, 40),
              "expected UTF-8 at byte 2 of the header, ");
}

TEST(Weights, LimitsDimensions) {
  std::string shape = "[1";
  for (int i = 1; i != 64; ++i)
    shape += ",1";
  Reading reading(makeFile("{" + tensor("a", "[0,1]", shape + "]") + "}", 1));
  EXPECT_EQ(reading.status, RESID_OK) << reading.text;
  EXPECT_EQ(refusalOfHeader("{" + tensor("a", "[0,1]", shape + ",1]") + "}", 1),
            "tensor 'a': expected at most 64 dimensions, but got more");
}

TEST(Weights, CutsTexts) {
  std::string file = makeFile(std::string("{\"") + std::string(300, 'x') + "\xc3\xa9\":{\"dtype\":\"?\n\"}}");
  char text[1000];
  resid_weights *weights;
  for (size_t bytes : {0, 1, 2, 20, 1000}) {
    std::fill(std::begin(text), std::end(text), '#');
    EXPECT_EQ(resid_weights_read(file.data(), file.size(), &weights, text, bytes), RESID_BAD_VALUE);
    EXPECT_EQ(text[bytes < 1000 ? bytes : 999], '#');
    if (bytes > 0)
      EXPECT_LT(std::string(text).size(), bytes);
  }
  EXPECT_EQ(resid_weights_read(file.data(), file.size(), &weights, nullptr, 1000), RESID_BAD_VALUE);
  // Long names are shortened between characters; what a terminal would obey is not shown.
  std::string name = std::string(199, 'x') + "\u00e9";
  std::string header = "{\"" + name + R"(":{"dtype":"\u001b[31m"}})";
  EXPECT_EQ(refusalOfHeader(header),
            "tensor '" + std::string(199, 'x') + "...': expected a dtype of the format, but got '?[31m'");
}

TEST(Weights, FindsWhatFits) {
  Reading reading(makeFile("{" + tensor("model.layer.w", "[0,6]", "[2,3]") + "," + tensor("b", "[6,10]") + "}", 10));
  ASSERT_EQ(reading.status, RESID_OK) << reading.text;
  const int64_t shape[] = {2, 3}, open[] = {-1, 3}, other[] = {3, 2};
  char text[512];
  resid_weight found;
  const void *data;
  auto find = [&](resid_weight wanted) {
    return resid_weights_find(reading.weights, &wanted, &found, &data, text, sizeof(text));
  };
  EXPECT_EQ(find({"model.layer.w", "U8", shape, 2}), RESID_OK);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(data, reading.bytes.data() + reading.bytes.size() - 10);
  EXPECT_EQ(find({"model.layer.w", nullptr, open, 2}), RESID_OK);
  EXPECT_EQ(found.shape[0], 2);
  EXPECT_EQ(find({"model.layer.w", "U8", other, 2}), RESID_BAD_SHAPE);
  EXPECT_STREQ(text, "weight 'model.layer.w': expected U8 [3, 2], but the file has U8 [2, 3]");
  EXPECT_EQ(find({"model.layer.w", "U8", shape, 1}), RESID_BAD_SHAPE);
  EXPECT_EQ(find({"model.layer.w", "BF16", open, 2}), RESID_BAD_DTYPE);
  EXPECT_STREQ(text, "weight 'model.layer.w': expected BF16 [?, 3], but the file has U8 [2, 3]");
  EXPECT_EQ(find({"layer.w", nullptr, shape, 2}), RESID_BAD_VALUE);
  EXPECT_STREQ(text, "weight 'layer.w': expected any type [2, 3], but the file has no tensor of that name; did you "
                     "mean 'model.layer.w'?");
  EXPECT_EQ(find({"x.b", "U8", shape, 1}), RESID_BAD_VALUE);
  EXPECT_STREQ(text, "weight 'x.b': expected U8 [2], but the file has no tensor of that name; did you mean 'b'?");
  EXPECT_EQ(find({"xb", "U8", nullptr, 0}), RESID_BAD_VALUE);
  EXPECT_STREQ(text, "weight 'xb': expected U8 [], but the file has no tensor of that name");
  EXPECT_EQ(find({nullptr, "U8", shape, 2}), RESID_BAD_POINTER);
  EXPECT_EQ(find({"b", "U8", nullptr, 1}), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_find(nullptr, &found, nullptr, nullptr, nullptr, 0), RESID_BAD_POINTER);
}

/// With a prefix, and where there is no such tensor, without it.
TEST(Weights, FindsBehindAPrefix) {
  Reading reading(makeFile("{" + tensor("model.w", "[0,1]", "[1]") + "," + tensor("w", "[1,2]", "[1]") + "," +
                               tensor("head", "[2,3]", "[1]") + "," + tensor("mode", "[3,4]", "[1]") + "}",
                           4));
  ASSERT_EQ(reading.status, RESID_OK) << reading.text;
  const char *first = reading.bytes.data() + reading.bytes.size() - 4;
  const int64_t shape[] = {1};
  char text[512];
  const void *data = nullptr;
  auto find = [&](const char *name) {
    resid_weight wanted{name, "U8", shape, 1};
    return resid_weights_find(reading.weights, &wanted, nullptr, &data, text, sizeof(text));
  };
  ASSERT_EQ(resid_weights_set_prefix(reading.weights, "model."), RESID_OK);
  EXPECT_EQ(find("w"), RESID_OK);
  EXPECT_EQ(data, first);
  EXPECT_EQ(find("head"), RESID_OK);
  EXPECT_EQ(data, first + 2);
  EXPECT_EQ(find("mode"), RESID_OK);
  EXPECT_EQ(data, first + 3);
  EXPECT_EQ(find("v"), RESID_BAD_VALUE);
  EXPECT_STREQ(text, "weight 'v': expected U8 [1], but the file has no tensor of that name, with 'model.' in front or "
                     "without");
  const resid_weight wanted[] = {{"w", "U8", shape, 1}, {"head", "U8", shape, 1}};
  resid_weight_list list{2, wanted};
  const void *members[2];
  EXPECT_EQ(resid_weights_fill(reading.weights, &list, members, sizeof(members), text, sizeof(text)), RESID_OK) << text;
  EXPECT_EQ(members[0], first);
  EXPECT_EQ(members[1], first + 2);
  ASSERT_EQ(resid_weights_set_prefix(reading.weights, ""), RESID_OK);
  EXPECT_EQ(find("w"), RESID_OK);
  EXPECT_EQ(data, first + 1);
  EXPECT_EQ(resid_weights_set_prefix(nullptr, ""), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_set_prefix(reading.weights, nullptr), RESID_BAD_POINTER);
}

/// A file of many tensors, so that searches go both ways.
TEST(Weights, FindsAmongMany) {
  std::string header = "{";
  for (int i = 0; i != 1000; ++i)
    header += (i ? "," : "") + tensor("w" + std::to_string(i * 7919 % 1000),
                                      "[" + std::to_string(i) + "," + std::to_string(i + 1) + "]", "[1]");
  Reading reading(makeFile(header + "}", 1000));
  ASSERT_EQ(reading.status, RESID_OK) << reading.text;
  for (int i = 0; i != 1000; ++i) {
    std::string name = "w" + std::to_string(i * 7919 % 1000);
    const int64_t shape[] = {1};
    resid_weight wanted{name.c_str(), "U8", shape, 1};
    const void *data = nullptr;
    ASSERT_EQ(resid_weights_find(reading.weights, &wanted, nullptr, &data, nullptr, 0), RESID_OK);
    EXPECT_EQ(data, reading.bytes.data() + reading.bytes.size() - 1000 + i);
  }
}

TEST(Weights, FillsAllOrNothing) {
  Reading reading(makeFile("{" + tensor("a", "[0,4]") + "," + tensor("b", "[4,8]") + "}", 8));
  const int64_t shape[] = {4}, other[] = {5};
  const resid_weight wanted[] = {{"b", "U8", shape, 1}, {nullptr, "F32", shape, 1}, {"a", "U8", shape, 1}};
  const resid_weight wrong[] = {wanted[0], wanted[1], {"a", "U8", other, 1}};
  char text[512];
  int mark;
  const void *members[] = {&mark, &mark, &mark};
  resid_weight_list list{3, wrong};
  EXPECT_EQ(resid_weights_fill(reading.weights, &list, members, sizeof(members), text, sizeof(text)), RESID_BAD_SHAPE);
  EXPECT_STREQ(text, "weight 'a': expected U8 [5], but the file has U8 [4]");
  for (const void *member : members)
    EXPECT_EQ(member, &mark);
  list.weights = wanted;
  EXPECT_EQ(resid_weights_fill(reading.weights, &list, members, sizeof(members), text, sizeof(text)), RESID_OK) << text;
  EXPECT_EQ(members[0], reading.bytes.data() + reading.bytes.size() - 4);
  EXPECT_EQ(members[1], &mark);
  EXPECT_EQ(members[2], reading.bytes.data() + reading.bytes.size() - 8);
  EXPECT_EQ(resid_weights_fill(reading.weights, &list, members, 16, text, sizeof(text)), RESID_BAD_SHAPE);
  EXPECT_STREQ(text, "expected members of 24 bytes, a pointer for each of 3 weights, but got 16");
  EXPECT_EQ(resid_weights_fill(reading.weights, nullptr, members, 24, text, sizeof(text)), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_fill(reading.weights, &list, nullptr, 24, text, sizeof(text)), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_fill(nullptr, &list, members, 24, text, sizeof(text)), RESID_BAD_POINTER);
}

TEST(Weights, RefusesNull) {
  resid_weights *weights = nullptr;
  char text[64];
  EXPECT_EQ(resid_weights_read(nullptr, 10, &weights, text, sizeof(text)), RESID_BAD_POINTER);
  EXPECT_STREQ(text, "file is NULL");
  EXPECT_EQ(resid_weights_read("", 0, nullptr, text, sizeof(text)), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_open(nullptr, &weights, text, sizeof(text)), RESID_BAD_POINTER);
  EXPECT_STREQ(text, "path is NULL");
  EXPECT_EQ(resid_weights_open("x", nullptr, nullptr, 0), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_get(nullptr, 0, nullptr, nullptr), RESID_BAD_POINTER);
  EXPECT_EQ(resid_weights_count(nullptr), 0);
  resid_weights_close(nullptr);
}

} // namespace
