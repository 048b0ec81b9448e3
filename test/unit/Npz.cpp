// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of weights that are archives of arrays: what numpy.savez writes is read, and what is compressed, cut or changed
// is refused. Files of NumPy itself: test/python/test_import_numpy.py. Built without LLVM for sanitizers.

#include "runtime/resid_runtime.h"
#include "test/unit/WeightReading.h"

#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace {

std::string number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i != bytes; ++i)
    text += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  return text;
}

std::string array(const std::string &descr, const std::string &shape, size_t bytes) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY" + std::string("\1\0", 2) + number(header.size(), 2) + header + std::string(bytes, 'x');
}

struct Member {
  std::string name, bytes;
  unsigned method = 0, flags = 0;
};

/// With `isLarge`, sizes and places stand in the fields of ZIP64.
std::string archive(const std::vector<Member> &members, bool isLarge = false) {
  std::string file, directory;
  for (const Member &member : members) {
    std::string sizes =
        isLarge ? std::string(8, '\xff') : number(member.bytes.size(), 4) + number(member.bytes.size(), 4);
    std::string extra;
    if (isLarge)
      extra = number(1, 2) + number(24, 2) + number(member.bytes.size(), 8) + number(member.bytes.size(), 8) +
              number(file.size(), 8);
    directory += std::string("PK\1\2", 4) + number(45, 2) + number(45, 2) + number(member.flags, 2) +
                 number(member.method, 2) + number(0, 8) + sizes + number(member.name.size(), 2) +
                 number(extra.size(), 2) + number(0, 10) + (isLarge ? std::string(4, '\xff') : number(file.size(), 4)) +
                 member.name + extra;
    file += std::string("PK\3\4", 4) + number(45, 2) + number(member.flags, 2) + number(member.method, 2) +
            number(0, 8) + number(member.bytes.size(), 4) + number(member.bytes.size(), 4) +
            number(member.name.size(), 2) + number(0, 2) + member.name + member.bytes;
  }
  size_t begin = file.size();
  file += directory;
  if (isLarge) {
    size_t end = file.size();
    file += std::string("PK\6\6", 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) +
            number(members.size(), 8) + number(members.size(), 8) + number(directory.size(), 8) + number(begin, 8);
    file += std::string("PK\6\7", 4) + number(0, 4) + number(end, 8) + number(1, 4);
  }
  return file + std::string("PK\5\6", 4) + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
         number(directory.size(), 4) + number(begin, 4) + number(0, 2);
}

std::string refusalOfArray(const std::string &bytes) { return refusalOf(archive({{"a.npy", bytes}})); }

TEST(Npz, ReadsArrays) {
  for (bool isLarge : {false, true}) {
    Reading reading(archive({{"layers.0.w.npy", array("<f4", "(2, 3)", 24)},
                             {"bias.npy", array("<u2", "(5,)", 10)},
                             {"empty.npy", array("<f8", "(0, 7)", 0)},
                             {"scalar.npy", array("|b1", "()", 1)}},
                            isLarge));
    ASSERT_EQ(reading.status, RESID_OK) << reading.text;
    ASSERT_EQ(resid_weights_count(reading.weights), 4);
    resid_weight found;
    const void *data;
    ASSERT_EQ(resid_weights_get(reading.weights, 0, &found, &data), RESID_OK);
    EXPECT_STREQ(found.name, "bias");
    EXPECT_STREQ(found.dtype, "BF16");
    EXPECT_EQ(std::string(static_cast<const char *>(data), 10), std::string(10, 'x'));
    ASSERT_EQ(resid_weights_get(reading.weights, 2, &found, &data), RESID_OK);
    EXPECT_STREQ(found.name, "layers.0.w");
    EXPECT_STREQ(found.dtype, "F32");
    EXPECT_EQ(std::vector<int64_t>(found.shape, found.shape + found.rank), (std::vector<int64_t>{2, 3}));
    ASSERT_EQ(resid_weights_get(reading.weights, 3, &found, nullptr), RESID_OK);
    EXPECT_EQ(found.rank, 0);
  }
  Reading empty(archive({}));
  EXPECT_EQ(empty.status, RESID_OK) << empty.text;
}

TEST(Npz, RefusesMembers) {
  std::string good = array("<f4", "(2,)", 8);
  EXPECT_EQ(refusalOf(archive({{"a.npy", good, 8}})),
            "tensor 'a': expected a member that is stored, as numpy.savez has it, but got one that is compressed");
  EXPECT_EQ(refusalOf(archive({{"a.npy", good, 0, 1}})),
            "tensor 'a': expected a member that is stored, as numpy.savez has it, but got one that is encrypted");
  EXPECT_EQ(refusalOf(archive({{"a.txt", good}})), "expected members that end in .npy, but got 'a.txt'");
  EXPECT_EQ(refusalOf(archive({{"a.npy", good}, {"a.npy", good}})),
            "tensor 'a': expected one tensor of that name, but got two");
  EXPECT_EQ(refusalOfArray("no array"), "tensor 'a': expected a .npy file, but got 8 bytes that are none");
  EXPECT_EQ(refusalOfArray(array(">f4", "(2,)", 8)),
            "tensor 'a': expected an element type such as '<f4', but got '>f4'");
  EXPECT_EQ(refusalOfArray(array("<f4", "(2,)", 9)), "tensor 'a': expected F32 [2], but got 9 bytes");
  std::string columns = good;
  columns.replace(columns.find("False,"), 6, "True, ");
  EXPECT_EQ(refusalOfArray(columns), "tensor 'a': expected rows first, but got Fortran's order");
  for (const char *shape : {"(2", "(-2,)", "(99999999999999999999,)", "(2,,)", "2", "('2',)"})
    EXPECT_EQ(
        refusalOfArray(array("<f4", shape, 8)),
        "tensor 'a': expected the header of a .npy file with descr, fortran_order and shape, but got another text");
  EXPECT_EQ(refusalOfArray(array("<f4", "(4611686018427387904, 4)", 8)),
            "tensor 'a': expected F32 [4611686018427387904, 4], but got 8 bytes");
}

/// No prefix of a file is taken for one, and no changed byte leads outside of it.
TEST(Npz, RefusesWhatIsCutOrChanged) {
  for (bool isLarge : {false, true}) {
    std::string file = archive({{"a.npy", array("<f4", "(2, 3)", 24)}, {"b.npy", array("<i8", "(1,)", 8)}}, isLarge);
    for (size_t size = 6; size < file.size(); ++size)
      EXPECT_NE(Reading(file.substr(0, size)).status, RESID_OK) << size;
    for (size_t at = 0; at < file.size(); ++at)
      for (int bits : {0x01, 0x80, 0xff}) {
        std::string changed = file;
        changed[at] = static_cast<char>(changed[at] ^ bits);
        Reading reading(changed);
        for (int64_t i = 0; i < resid_weights_count(reading.weights); ++i) {
          resid_weight found;
          const void *data;
          ASSERT_EQ(resid_weights_get(reading.weights, i, &found, &data), RESID_OK);
          const char *begin = static_cast<const char *>(data);
          EXPECT_GE(begin, reading.bytes.data());
          EXPECT_LE(begin, reading.bytes.data() + reading.bytes.size());
        }
      }
  }
}

} // namespace
