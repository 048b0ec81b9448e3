// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/residc/TimeReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

class TimeReport : public OutputStrategy {
public:
  using OutputStrategy::OutputStrategy;

  void printHeader(const TimeRecord &total) override {
    os << llvm::format("time: %.1f ms\n\n", total.wall * 1e3) << "         ms   part  stage\n";
  }
  void printFooter() override { os.flush(); }
  void printTime(const TimeRecord &time, const TimeRecord &total) override {
    double part = total.wall > 0 ? 100 * time.wall / total.wall : 0;
    os << llvm::format("%11.2f %5.1f%%  ", time.wall * 1e3, part);
  }
  void printListEntry(StringRef name, const TimeRecord &time, const TimeRecord &total, bool) override {
    printTime(time, total);
    os << name << '\n';
  }
  void printTreeEntry(unsigned indent, StringRef name, const TimeRecord &time, const TimeRecord &total) override {
    printTime(time, total);
    os.indent(indent) << name << '\n';
  }
  void printTreeEntryEnd(unsigned, bool) override {}
};

} // namespace

std::unique_ptr<OutputStrategy> tools::createTimeReport(llvm::raw_ostream &stream) {
  return std::make_unique<TimeReport>(stream);
}
