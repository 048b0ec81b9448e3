// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/choice/ScheduleFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::resid::cpu;

namespace {

constexpr StringLiteral kHeader = "resid-schedule";

/// Text of a file as a message shows it: no signs that a terminal obeys, and no more than fits into a line.
std::string quote(StringRef text) {
  constexpr size_t longest = 80;
  std::string shown;
  raw_string_ostream stream(shown);
  stream << "'";
  printEscapedString(text.take_front(longest), stream);
  stream << (text.size() > longest ? "…'" : "'");
  return shown;
}

/// Reads line by line. Comments stay with the section in or before which they stand.
class Reader {
public:
  explicit Reader(StringRef path) : path(path) {}

  Error readLine(StringRef line);
  Expected<ScheduleFile> finish();

private:
  Error readHeader(StringRef line);
  Error readSection(StringRef cpu);
  Error readSetting(StringRef line);
  Error fail(const Twine &message) const { return createStringError(path + ":" + Twine(number) + ": " + message); }

  StringRef path;
  unsigned number = 0;
  bool hasHeader = false;
  std::vector<std::string> comments;
  ScheduleFile file;
};

} // namespace

Error Reader::readHeader(StringRef line) {
  auto [word, version] = getToken(line);
  unsigned found;
  if (word != kHeader || version.trim().getAsInteger(10, found))
    return fail("expected a schedule file, which begins with '" + kHeader + " " + Twine(ScheduleFile::version) +
                "', but got " + quote(line));
  if (found != ScheduleFile::version)
    return fail("expected version " + Twine(ScheduleFile::version) + " of schedule files, but got version " +
                Twine(found) + ", which " + (found > ScheduleFile::version ? "a newer" : "an older") + " resid wrote");
  hasHeader = true;
  return Error::success();
}

Error Reader::readSection(StringRef cpu) {
  if (cpu.empty() || cpu == "native" || !all_of(cpu, [](char c) { return isAlnum(c) || c == '-' || c == '_'; }))
    return fail("expected one name of a CPU after 'cpu', such as x86-64-v3, but got " + quote(cpu));
  if (any_of(file.sections, [cpu](const ScheduleFile::Section &section) { return section.cpu == cpu; }))
    return fail("expected each CPU once, but got '" + cpu + "' a second time");
  file.sections.push_back({cpu.str(), {}, std::exchange(comments, {})});
  return Error::success();
}

Error Reader::readSetting(StringRef line) {
  if (file.sections.empty())
    return fail("expected 'cpu NAME' before the first setting, but got " + quote(line));
  if (line.count('=') != 1)
    return fail("expected 'cpu NAME' or one KEY=VALUE, but got " + quote(line));
  auto [key, value] = line.split('=');
  std::string source = (path + ":" + Twine(number)).str();
  if (!all_of(key.trim(), isPrint) || !all_of(value.trim(), isPrint))
    return fail("expected KEY=VALUE, but got " + quote(line));
  if (Error error = file.sections.back().schedule.set(key.trim(), value.trim(), source))
    return fail(toString(std::move(error)));
  return Error::success();
}

Error Reader::readLine(StringRef line) {
  ++number;
  auto [code, comment] = line.split('#');
  code = code.trim();
  if (line.contains('#') && code.empty())
    comments.push_back(comment.trim().str());
  if (code.empty())
    return Error::success();
  if (!hasHeader)
    return readHeader(code);
  if (auto [word, cpu] = getToken(code); word == "cpu")
    return readSection(cpu.trim());
  return readSetting(code);
}

Expected<ScheduleFile> Reader::finish() {
  if (!hasHeader)
    return fail("expected a schedule file, which begins with '" + kHeader + " " + Twine(ScheduleFile::version) +
                "', but it is empty");
  if (!file.sections.empty())
    append_range(file.sections.back().comments, comments);
  return std::move(file);
}

Expected<ScheduleFile> mlir::resid::cpu::parseScheduleFile(StringRef text, StringRef path) {
  Reader reader(path);
  for (StringRef line : split(text.rtrim(), '\n'))
    if (Error error = reader.readLine(line))
      return std::move(error);
  return reader.finish();
}

Expected<const Schedule *> ScheduleFile::find(StringRef cpu) const {
  auto found = llvm::find_if(sections, [cpu](const Section &section) { return section.cpu == cpu; });
  if (found != sections.end())
    return &found->schedule;
  auto names = map_range(sections, [](const Section &section) { return "'cpu " + section.cpu + "'"; });
  return createStringError("expected a section 'cpu " + cpu + "', but the file has " +
                           (sections.empty() ? "none" : join(names, ", ")));
}

void ScheduleFile::put(Section section) {
  auto found = llvm::find_if(sections, [&](const Section &other) { return other.cpu == section.cpu; });
  if (found == sections.end())
    sections.push_back(std::move(section));
  else
    *found = std::move(section);
}

std::string ScheduleFile::print() const {
  std::string text = (kHeader + " " + Twine(version) + "\n").str();
  for (const Section &section : sections) {
    text += "\n";
    for (const std::string &comment : section.comments)
      text += comment.empty() ? "#\n" : "# " + comment + "\n";
    text += "cpu " + section.cpu + "\n";
    for (const Setting &setting : section.schedule.settings)
      text += setting.key + "=" + setting.value + "\n";
  }
  return text;
}
