// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx/driver/State.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace resid;
using namespace resid::fake;

static int toNumber(llvm::StringRef text) {
  int number = 0;
  if (text.getAsInteger(10, number)) {
    llvm::errs() << "RESID_FAKE_CUDA: expected a number, but got '" << text << "'\n";
    std::abort();
  }
  return number;
}

std::string Settings::edit(llvm::StringRef ptx) const {
  std::string text = ptx.str();
  for (const auto &[what, after] : edits) {
    auto [start, before] = llvm::StringRef(what).contains("@@") ? llvm::StringRef(what).split("@@")
                                                                : std::pair(llvm::StringRef(), llvm::StringRef(what));
    size_t place = text.find(start);
    if (place != std::string::npos)
      place = text.find(before, place);
    if (place == std::string::npos) {
      llvm::errs() << "RESID_FAKE_CUDA_EDIT: the PTX has no '" << what << "'\n";
      std::abort();
    }
    text.replace(place, before.size(), after);
  }
  return text;
}

Settings Settings::read(const char *text, const char *edit) {
  static const std::map<llvm::StringRef, int Settings::*> numbers = {{"devices", &Settings::devices},
                                                                     {"driver", &Settings::version},
                                                                     {"chip", &Settings::chip},
                                                                     {"local", &Settings::localBytes}};
  Settings settings;
  for (llvm::StringRef one : llvm::split(edit ? edit : "", "&&"))
    if (!one.empty())
      settings.edits.emplace_back(one.split("=>").first.str(), one.split("=>").second.str());
  for (llvm::StringRef word : llvm::split(text ? text : "", ',')) {
    auto [name, value] = word.split('=');
    if (auto number = numbers.find(name); number != numbers.end())
      settings.*number->second = toNumber(value);
    else if (name == "noids")
      settings.hasIds = false;
    else if (name == "backward")
      settings.order = ptx::Order::backward();
    else if (name == "random")
      settings.order = ptx::Order::random(toNumber(value));
    else if (name == "counts")
      settings.counts = value.str();
    else if (name == "fail") {
      auto [call, numbers] = value.split(':');
      auto [code, from] = numbers.split(':');
      settings.failures.push_back({call.str(), toNumber(code), from.empty() ? 1 : toNumber(from)});
    } else if (!word.empty()) {
      llvm::errs() << "RESID_FAKE_CUDA: unknown word '" << word << "'\n";
      std::abort();
    }
  }
  return settings;
}

State &State::get() {
  static State *state = [] {
    auto *made = new State;
    made->settings = Settings::read(std::getenv("RESID_FAKE_CUDA"), std::getenv("RESID_FAKE_CUDA_EDIT"));
    return made;
  }();
  return *state;
}

Context *State::getPrimary(int device) {
  for (Context &context : contexts)
    if (context.isPrimary && context.device == device)
      return &context;
  contexts.push_back({device, nextId++, /*isPrimary=*/true});
  return &contexts.back();
}

bool State::hasMemory(uint64_t address, uint64_t bytes) const {
  auto above = allocations.upper_bound(address);
  if (above == allocations.begin())
    return false;
  auto [begin, size] = *std::prev(above);
  return address - begin <= size && bytes <= size - (address - begin);
}

CUresult State::enqueue(Stream *stream, std::function<CUresult()> work) {
  if (!stream || !stream->isCapturing)
    return work();
  stream->captured.push_back(std::move(work));
  return 0;
}

static void appendCounts(llvm::StringRef file, const ptx::Kernel &kernel, const ptx::Launch &launch,
                         const ptx::Counts &counts) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error, llvm::sys::fs::OF_Append);
  if (error) {
    llvm::errs() << "RESID_FAKE_CUDA: cannot write '" << file << "': " << error.message() << "\n";
    std::abort();
  }
  out << kernel.name() << ' ' << launch.gridX << ' ' << launch.blockX << ' ' << counts.instructions;
  for (const ptx::Traffic &traffic : {counts.loads, counts.stores})
    out << ' ' << traffic.bytes << ' ' << traffic.sectors;
  out << '\n';
}

CUresult State::runKernel(const ptx::Kernel &kernel, unsigned grid, unsigned block, unsigned shared,
                          std::vector<uint8_t> parameters) {
  ptx::Launch launch;
  launch.gridX = grid;
  launch.blockX = block;
  launch.sharedBytes = shared;
  launch.parameters = parameters;
  launch.order = settings.order;
  llvm::Expected<ptx::Counts> counts = ptx::run(kernel, launch, memory);
  if (counts) {
    if (!settings.counts.empty())
      appendCounts(settings.counts, kernel, launch, *counts);
    return 0;
  }
  llvm::errs() << "kernel " << kernel.name() << ": " << llvm::toString(counts.takeError()) << "\n";
  return 719; // CUDA_ERROR_LAUNCH_FAILED
}
