// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of weights in memory, as tests of their formats read them. Built without LLVM for sanitizers.

#ifndef RESID_TEST_UNIT_WEIGHTREADING_H
#define RESID_TEST_UNIT_WEIGHTREADING_H

#include "runtime/resid_runtime.h"

#include "gtest/gtest.h"
#include <string>
#include <vector>

/// The file in memory of its exact size, which sanitizers watch, and what became of reading it.
struct Reading {
  explicit Reading(const std::string &file) : bytes(file.begin(), file.end()) {
    status = resid_weights_read(bytes.data(), bytes.size(), &weights, text, sizeof(text));
  }
  ~Reading() { resid_weights_close(weights); }
  Reading(const Reading &) = delete;

  std::vector<char> bytes;
  resid_weights *weights = nullptr;
  resid_status status;
  char text[512] = "untouched";
};

/// What is said of a file that must be refused.
inline std::string refusalOf(const std::string &file) {
  Reading reading(file);
  EXPECT_EQ(reading.status, RESID_BAD_VALUE) << file;
  EXPECT_EQ(reading.weights, nullptr);
  return reading.text;
}

#endif // RESID_TEST_UNIT_WEIGHTREADING_H
