// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bad_weights FILE …: reads each file of weights cut off after each byte, with each byte changed, dropped and doubled,
// and with several changes at random places (always the same). Each lies right before a page that may not be touched.

#include "check_weights.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

using resid::robust::checkWeights;
using resid::robust::Verdict;

namespace {

/// Memory that ends at a page which may not be touched.
class GuardedMemory {
public:
  GuardedMemory() {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *memory = mmap(nullptr, kBytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(static_cast<char *>(memory) + kBytes, page, PROT_NONE) != 0)
      std::perror("mmap"), std::exit(2);
    end = static_cast<char *>(memory) + kBytes;
  }
  const char *place(const std::string &file) const {
    return static_cast<const char *>(std::memcpy(end - file.size(), file.data(), file.size()));
  }

private:
  static constexpr size_t kBytes = 1 << 20;
  char *end;
};

class Tester {
public:
  void test(const std::string &file) {
    Verdict verdict = checkWeights(memory.place(file), file.size());
    ++files;
    accepted += verdict.isAccepted;
    if (!verdict.mistake)
      return;
    ++failures;
    std::printf("file %ld: expected that %s\n", files, verdict.mistake);
  }
  void testVariants(const std::string &file);
  void testRandom(const std::string &file, int count);

  long files = 0, accepted = 0, failures = 0;

private:
  uint64_t next() { // xorshift
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }

  GuardedMemory memory;
  uint64_t state = 88172645463325252;
};

/// The file with a header of another length.
std::string withLength(std::string file, uint64_t length) {
  if (file.size() >= 8)
    std::memcpy(&file[0], &length, 8);
  return file;
}

/// Bytes that mean something in a header, and some that mean nothing anywhere.
const char kBytes[] = "\"\\{}[],:0129eau/. \n\x00\x1f\x7f\x80\xc3\xed\xf4\xff";

void Tester::testVariants(const std::string &file) {
  for (size_t i = 0; i < file.size(); ++i) {
    test(file.substr(0, i));
    test(withLength(file.substr(0, i), i - 8)); // the header ends where the file does
    test(file.substr(0, i) + file.substr(i + 1));
    test(file.substr(0, i) + file[i] + file.substr(i));
    std::string other = file;
    for (char c : std::string(kBytes, sizeof(kBytes) - 1)) {
      other[i] = c;
      test(other);
    }
    for (int bit = 0; bit < 8; ++bit) {
      other[i] = static_cast<char>(file[i] ^ 1 << bit);
      test(other);
    }
  }
}

void Tester::testRandom(const std::string &file, int count) {
  for (int i = 0; i < count; ++i) {
    std::string other = file;
    for (uint64_t changes = 1 + next() % 4; changes-- > 0 && !other.empty();) {
      size_t at = next() % other.size(), length = 1 + next() % 12;
      switch (next() % 4) {
      case 0:
        other[at] = kBytes[next() % (sizeof(kBytes) - 1)];
        break;
      case 1:
        other.erase(at, length);
        break;
      case 2:
        other.insert(at, other.substr(next() % other.size(), length));
        break;
      default:
        // A number for another one.
        if (size_t digit = other.find_first_of("0123456789", at); digit < other.size())
          other.replace(digit, 1, std::to_string(next() >> (next() % 64)));
      }
    }
    // With the length that the header has now, or what may be taken for it.
    size_t brace = other.find("}}");
    test(next() % 2 && brace < other.size() ? withLength(other, brace + 2 - 8) : other);
  }
}

} // namespace

int main(int argc, char **argv) {
  Tester tester;
  for (int i = 1; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    long before = tester.accepted;
    tester.test(file);
    if (tester.accepted == before)
      ++tester.failures, std::printf("%s: expected a good file to begin with\n", argv[i]);
    tester.testVariants(file);
    tester.testRandom(file, 20000);
  }
  std::printf("%ld files, %ld accepted, %ld failures\n", tester.files, tester.accepted, tester.failures);
  return tester.failures != 0;
}
