// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-random-programs: draws programs and orders of rewrites, and looks for one that changes what a program computes.

#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "test/random/Case.h"
#include "test/random/Random.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace mlir::resid::random;

static const char *const helpText = R"(resid-random-programs: random programs through random orders of rewrites

usage: resid-random-programs [flags]            draws programs
       resid-random-programs CASE.mlir [flags]  runs kept cases

Each program is evaluated before and after the rewrites; every compile-every-th also runs as machine code. Rewrites that keep bits
have to, those that are exact in real arithmetic have to agree on f64 programs to 1e-12. Program i of --seed=S is the first of
--seed=S+i. The first disagreement is printed with what runs it again, written to a file, and ends with exit code 1.

  --seed=S           where to start (default: 1)
  --programs=N       how many (default: 1000)
  --minutes=M        stop after M minutes
  --compile-every=K  compile one of K programs that machine code can be made of, 0 for none (default: 0)
  --compile-ops=N    compile no program with more than N ops (default: no limit)
  --only=P,...       only these rewrites of the table
  --stacks           only straight stacks of blocks, depth 1 to 12
  --gradients        compare gradients, with numeric ones and before and after the rewrites; of one of K programs as
                     machine code
  --out=FILE         where the first disagreement goes (default: random-program.mlir)
  --keep-going       go on after a disagreement; each goes to FILE with its seed
  --print            print the programs as cases instead of running them
)";

namespace {

struct Options {
  uint64_t seed = 1;
  int64_t programs = 1000, compileEvery = 0, compileOps = std::numeric_limits<int64_t>::max(), minutes = 0;
  PassOrder only;
  std::string onlyText;
  Family family = Family::All;
  std::string out = "random-program.mlir";
  bool keepGoing = false, print = false, help = false;
  decltype(&checkProgram) check = checkProgram;
  std::vector<std::string> cases;
};

/// A context grows with every attribute and type: each serves this many programs.
constexpr int64_t programsPerSession = 1000;

using Clock = std::chrono::steady_clock;

class Driver {
public:
  explicit Driver(const Options &options) : options(options) {}
  int runCases();
  int runRandom();

private:
  PassOrder drawOrder(uint64_t seed) const;
  /// Checks, and where that fails finds out which rewrites are needed. Returns whether all was well.
  bool check(const Program &program, PassOrder order, bool compile, const std::string &notes, const std::string &out);
  PassOrder reduce(const Program &program, PassOrder order, bool compile);
  std::string getCommand(uint64_t seed, bool compile) const;
  double getSeconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  bool isToBeCompiled(int64_t index, ModuleOp module);
  void printProgress();
  void printSummary();

  const Options &options;
  std::unique_ptr<Session> session;
  Counts counts;
  /// How many programs are still to be compiled.
  int64_t awaited = 0;
  int64_t disagreements = 0;
  Clock::time_point start = Clock::now();
  double nextProgress = 10.0;
};

} // namespace

PassOrder Driver::drawOrder(uint64_t seed) const {
  // Other numbers than those of the program, so that --only leaves the program as it is.
  Random random(~seed);
  PassOrder table = options.only;
  if (table.empty())
    for (const PassEntry &entry : getPassTable())
      if (entry.isDrawn)
        table.push_back(&entry);
  PassOrder order;
  for (int64_t count = random.between(1, 6); count != 0; --count)
    order.push_back(table[random.below(static_cast<int64_t>(table.size()))]);
  return order;
}

PassOrder Driver::reduce(const Program &program, PassOrder order, bool compile) {
  Counts ignored;
  for (size_t i = order.size(); i != 0; --i) {
    PassOrder shorter = order;
    shorter.erase(shorter.begin() + (i - 1));
    if (options.check(*session, program, shorter, compile, /*each=*/false, ignored))
      order = shorter;
  }
  return order;
}

bool Driver::check(const Program &program, PassOrder order, bool compile, const std::string &notes,
                   const std::string &out) {
  auto found = options.check(*session, program, order, compile, /*each=*/false, counts);
  if (!found)
    return true;
  ++disagreements;
  order = reduce(program, order, compile);
  Counts ignored;
  // Comparing after each rewrite names the one at fault; where only machine code shows it there is none to name.
  if (auto named = options.check(*session, program, order, compile, /*each=*/true, ignored))
    found = std::move(named);
  std::string text = printCase(program, order, notes + "\n" + found->what);
  llvm::outs() << text;
  if (!found->before.empty())
    llvm::outs() << "// ----- before the rewrite at fault\n" << found->before;
  if (!found->after.empty())
    llvm::outs() << "// ----- after it\n" << found->after;
  llvm::outs() << "disagreement: " << notes << ": " << found->what << "\n";
  llvm::outs().flush();
  std::error_code error;
  llvm::raw_fd_ostream file(out, error);
  if (error)
    llvm::errs() << "resid-random-programs: error: cannot write " << out << ": " << error.message() << '\n';
  else
    file << text;
  return false;
}

std::string Driver::getCommand(uint64_t seed, bool compile) const {
  std::string command = "resid-random-programs --seed=" + std::to_string(seed) + " --programs=1";
  if (compile)
    command += " --compile-every=1";
  if (options.family == Family::Stacks)
    command += " --stacks";
  if (options.check == checkGradients)
    command += " --gradients";
  return options.onlyText.empty() ? command : command + " --only=" + options.onlyText;
}

void Driver::printProgress() {
  if (getSeconds() < nextProgress)
    return;
  nextProgress = getSeconds() + 10.0;
  llvm::errs() << llvm::format("%lld programs, %lld compiled, %.0f s, %.0f programs/s, %lld disagreements\n",
                               static_cast<long long>(counts.programs), static_cast<long long>(counts.compiled),
                               getSeconds(), static_cast<double>(counts.programs) / getSeconds(),
                               static_cast<long long>(disagreements));
}

void Driver::printSummary() {
  llvm::outs() << llvm::left_justify("rewrite", 32) << llvm::left_justify("class", 12) << llvm::right_justify("runs", 9)
               << llvm::right_justify("changed", 9) << llvm::right_justify("refused", 9) << '\n';
  for (const PassEntry &entry : getPassTable()) {
    if (!entry.isDrawn && !counts.passes.count(&entry))
      continue;
    PassCounts c = counts.passes.lookup(&entry);
    llvm::outs() << llvm::left_justify(entry.name, 32)
                 << llvm::left_justify(entry.keeps == RewriteClass::BitExact ? "bit-exact" : "exact", 12)
                 << llvm::right_justify(std::to_string(c.runs), 9) << llvm::right_justify(std::to_string(c.changed), 9)
                 << llvm::right_justify(std::to_string(c.refused), 9) << '\n';
  }
  llvm::outs() << counts.programs << " programs from seed " << options.seed << ", " << counts.bitComparisons
               << " comparisons by bits, " << counts.boundedComparisons << " by bounds (" << counts.sensitive
               << " with the program's own sensitivity), ";
  if (options.check == checkGradients)
    llvm::outs() << counts.directions << " slopes along directions (" << counts.rough << " more are too rough), "
                 << counts.underived << " functions without a gradient, ";
  llvm::outs() << counts.compiled << " functions compiled before and after (" << counts.compiledAlike
               << " of them the same to the compiler), " << counts.unavailable << " not available as machine code, "
               << disagreements << " disagreements\n";
  for (const auto &[reason, count] : counts.reasons)
    llvm::outs() << "not available, " << count << " times: " << reason;
}

/// One of compile-every programs, the first that is not too large.
bool Driver::isToBeCompiled(int64_t index, ModuleOp module) {
  if (!options.compileEvery)
    return false;
  awaited += index % options.compileEvery == 0;
  int64_t ops = 0;
  module.walk([&](Operation *) { ++ops; });
  bool chosen = awaited && ops <= options.compileOps;
  awaited -= chosen;
  return chosen;
}

int Driver::runRandom() {
  for (int64_t i = 0; i != options.programs; ++i) {
    if (options.minutes && getSeconds() > static_cast<double>(options.minutes) * 60.0)
      break;
    if (i % programsPerSession == 0) {
      session.reset();
      session = std::make_unique<Session>();
    }
    uint64_t seed = options.seed + static_cast<uint64_t>(i);
    std::string seedCommand = getCommand(seed, /*compile=*/options.compileEvery != 0);
    llvm::PrettyStackTraceFormat trace("%s", seedCommand.c_str());
    Program program = generateProgram(session->getContext(), seed, options.family);
    PassOrder order = drawOrder(seed);
    bool compile = isToBeCompiled(i, *program.module);
    std::string command = getCommand(seed, compile);
    if (options.print) {
      llvm::outs() << printCase(program, order, command);
      continue;
    }
    std::string out = options.keepGoing ? options.out + "." + std::to_string(seed) : options.out;
    int64_t unavailable = counts.unavailable;
    if (!check(program, order, compile, command, out) && !options.keepGoing)
      break;
    awaited += counts.unavailable != unavailable; // another one instead
    printProgress();
  }
  if (!options.print)
    printSummary();
  return disagreements ? 1 : 0;
}

int Driver::runCases() {
  session = std::make_unique<Session>();
  for (const std::string &path : options.cases) {
    std::optional<Case> kept = readCase(session->getContext(), path);
    if (!kept)
      return 1;
    bool compile = options.compileEvery != 0;
    if (check(kept->program, kept->order, compile, path, options.out))
      llvm::outs() << path << ": ok\n";
  }
  return disagreements ? 1 : 0;
}

static bool parseNumber(StringRef text, int64_t &value) { return !text.getAsInteger(10, value) && value >= 0; }

/// Whether the flag is known and its value makes sense.
static bool parseFlag(StringRef flag, Options &options) {
  int64_t seed;
  if (flag.consume_front("--seed="))
    return parseNumber(flag, seed) && (options.seed = static_cast<uint64_t>(seed), true);
  if (flag.consume_front("--programs="))
    return parseNumber(flag, options.programs);
  if (flag.consume_front("--compile-every="))
    return parseNumber(flag, options.compileEvery);
  if (flag.consume_front("--compile-ops="))
    return parseNumber(flag, options.compileOps);
  if (flag.consume_front("--minutes="))
    return parseNumber(flag, options.minutes);
  if (flag.consume_front("--out="))
    return options.out = flag.str(), !flag.empty();
  if (flag.consume_front("--only=")) {
    options.onlyText = flag.str();
    auto order = parseOrder(flag, ',');
    return order && (options.only = std::move(*order), !options.only.empty());
  }
  options.keepGoing |= flag == "--keep-going";
  options.print |= flag == "--print";
  options.help |= flag == "--help";
  if (flag == "--stacks")
    options.family = Family::Stacks;
  if (flag == "--gradients")
    options.check = checkGradients;
  if (!flag.starts_with("--"))
    options.cases.push_back(flag.str());
  return !flag.starts_with("--") ||
         llvm::is_contained({"--keep-going", "--print", "--help", "--stacks", "--gradients"}, flag);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  for (StringRef flag : ArrayRef<const char *>(argv, argc).drop_front())
    if (!parseFlag(flag, options)) {
      llvm::errs() << "resid-random-programs: error: unknown flag '" << flag << "'; --help lists all\n";
      return 2;
    }
  if (options.help) {
    llvm::outs() << helpText;
    return 0;
  }
  resid::registerResidPasses();
  resid::registerResidPipelines();
  registerCanonicalizerPass();
  registerCSEPass();
  Driver driver(options);
  return options.cases.empty() ? driver.runRandom() : driver.runCases();
}
