// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks before parsing; see Parse.h. Reads the text once, with a memory that does not grow with it but for
// aliases, and knows of MLIR's grammar only what nests: brackets, operators of affine expressions, and aliases in
// aliases. MLIR has no such limits: mlir-opt ends by SIGSEGV on 60,000 nested types (with the stack of the tools, on
// 600,000), and prints 403 MB for 633 bytes of aliases.

#include "tools/common/Parse.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::resid;

/// The largest number of values that one alias may stand for when it is written out.
static constexpr uint64_t maxExpansion = 1 << 20;

namespace {

class TextChecker {
public:
  TextChecker(llvm::SourceMgr &sourceManager, MLIRContext &context)
      : sourceManager(sourceManager), context(context),
        text(sourceManager.getMemoryBuffer(sourceManager.getMainFileID())->getBuffer()), place(text.begin()),
        end(text.end()), levels(1) {}

  LogicalResult run();

private:
  enum class Token { End, Word, Alias, Operator, Separator, Arrow, Open, Close, Value, Other };

  /// A bracket that is open (the first one is the file). Heights are those of values: what a walk over one recurses.
  struct Level {
    char closing = 0;
    unsigned height = 0;  // of the value that is being read
    unsigned deepest = 0; // of those before it
  };

  /// What an alias stands for.
  struct Alias {
    unsigned height = 0;
    uint64_t expansion = 1;
  };

  Token next();
  Token readWord();
  void skipSpaceAndComments();
  void skipString();
  LogicalResult take(Token token, Token previous);
  LogicalResult takeOperator(Token previous);
  LogicalResult takeAlias();
  LogicalResult open();
  LogicalResult close();
  LogicalResult raise(unsigned height);
  void endValue();
  void define(StringRef name);
  void endDefinition();

  InFlightDiagnostic error() { return emitError(tools::getTextLocation(sourceManager, start, context)); }

  llvm::SourceMgr &sourceManager;
  MLIRContext &context;
  StringRef text;
  const char *place, *end, *start = nullptr; // start of the token that is being taken
  SmallVector<Level, 0> levels;
  unsigned signs = 0;
  llvm::StringMap<Alias> aliases;
  StringRef aliasName, definedName;
  Alias defined;
};

bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; }
/// After a sigil signs are part of a name.
bool isSigiledPart(char c) { return isNamePart(c) || c == '-'; }

} // namespace

void TextChecker::skipSpaceAndComments() {
  while (place != end) {
    if (*place == '/' && place + 1 != end && place[1] == '/') {
      const void *newline = memchr(place, '\n', end - place);
      place = newline ? static_cast<const char *>(newline) : end;
    } else if (!llvm::isSpace(*place)) {
      return;
    } else {
      ++place;
    }
  }
}

/// `place` stands after the opening quote. A string that does not end on its line ends the parse as well.
void TextChecker::skipString() {
  for (; place != end && *place != '\n'; ++place) {
    if (*place == '"') {
      ++place;
      return;
    }
    if (*place == '\\' && place + 1 != end)
      ++place;
  }
}

TextChecker::Token TextChecker::readWord() {
  place = std::find_if_not(place, end, isNamePart);
  StringRef word(start, place - start);
  return word == "mod" || word == "floordiv" || word == "ceildiv" ? Token::Operator : Token::Word;
}

TextChecker::Token TextChecker::next() {
  skipSpaceAndComments();
  start = place;
  if (place == end)
    return Token::End;
  char c = *place++;
  if (isNameStart(c))
    return readWord();
  switch (c) {
  case '"':
    skipString();
    return Token::Value;
  case '#':
  case '!':
    if (place == end || !isSigiledPart(*place))
      return Token::Other;
    place = std::find_if_not(place, end, isSigiledPart);
    aliasName = StringRef(start, place - start);
    return Token::Alias;
  case '%':
  case '^':
  case '@':
    // A quoted symbol is a string, which comes next.
    place = std::find_if_not(place, end, isSigiledPart);
    return Token::Value;
  case '-':
    if (place == end || *place != '>')
      return Token::Operator;
    ++place;
    return Token::Arrow;
  case '+':
  case '*':
    return Token::Operator;
  case '(':
  case '[':
  case '{':
  case '<':
    return Token::Open;
  case ')':
  case ']':
  case '}':
  case '>':
    return Token::Close;
  case ',':
  case ':':
  case '=':
    return Token::Separator;
  default:
    return llvm::isDigit(c) ? Token::Value : Token::Other;
  }
}

LogicalResult TextChecker::raise(unsigned height) {
  levels.back().height = std::max(levels.back().height, height);
  if (height > tools::maxHeight)
    return error() << "expected operators and aliases to nest at most " << tools::maxHeight
                   << " deep, but they nest deeper";
  return success();
}

void TextChecker::endValue() {
  Level &level = levels.back();
  level.deepest = std::max(level.deepest, level.height);
  level.height = 0;
}

LogicalResult TextChecker::takeOperator(Token previous) {
  // Signs in front of each other nest in the parser as brackets do.
  signs = previous == Token::Operator ? signs + 1 : 1;
  if (signs > tools::maxNesting)
    return error() << "expected at most " << tools::maxNesting << " signs in front of each other, but got more";
  return raise(levels.back().height + 1);
}

LogicalResult TextChecker::open() {
  if (levels.size() > tools::maxNesting)
    return error() << "expected brackets to nest at most " << tools::maxNesting << " deep, but they nest deeper";
  char c = *start;
  Level level;
  level.closing = c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>';
  levels.push_back(level);
  return success();
}

/// Closes what the bracket closes. '>' is an operator too, and '<' may be one that stays open: a closing bracket that
/// nothing waits for is none, and one that is waited for ends what was opened since.
LogicalResult TextChecker::close() {
  if (levels.back().closing != *start &&
      (*start == '>' || llvm::none_of(levels, [&](const Level &level) { return level.closing == *start; })))
    return success();
  bool found = false;
  while (!found) {
    endValue();
    Level closed = levels.pop_back_val();
    found = closed.closing == *start;
    if (failed(raise(std::max(levels.back().height, closed.deepest + 1))))
      return failure();
  }
  return success();
}

void TextChecker::define(StringRef name) {
  endDefinition();
  definedName = name;
  defined = Alias();
  levels.back() = Level();
}

void TextChecker::endDefinition() {
  if (definedName.empty())
    return;
  endValue();
  defined.height = levels.front().deepest;
  aliases[definedName] = defined;
  definedName = StringRef();
}

LogicalResult TextChecker::takeAlias() {
  auto found = aliases.find(aliasName);
  if (found == aliases.end())
    return success();
  if (!definedName.empty()) {
    defined.expansion += found->second.expansion;
    if (defined.expansion > maxExpansion)
      return error() << "expected an alias to stand for at most " << maxExpansion << " others, but '" << definedName
                     << "' stands for more";
  }
  return raise(found->second.height + 1);
}

LogicalResult TextChecker::take(Token token, Token previous) {
  bool isOuter = levels.size() == 1;
  switch (token) {
  case Token::Operator:
    return takeOperator(previous);
  case Token::Open:
    return open();
  case Token::Close:
    return close();
  case Token::Alias:
    return takeAlias();
  case Token::Separator:
    if (isOuter && previous == Token::Alias && *start == '=')
      define(aliasName);
    endValue();
    return success();
  case Token::Word:
    // A word right after a value begins an operation: the definition of an alias has ended.
    if (isOuter &&
        (previous == Token::Close || previous == Token::Word || previous == Token::Value || previous == Token::Alias))
      endDefinition();
    return success();
  case Token::End:
  case Token::Arrow:
  case Token::Value:
  case Token::Other:
    return success();
  }
  llvm_unreachable("a token that nobody takes");
}

LogicalResult TextChecker::run() {
  size_t zero = text.find('\0');
  if (zero != StringRef::npos) {
    start = text.begin() + zero;
    return error() << "expected text, but got a zero byte";
  }
  Token previous = Token::Separator;
  for (Token token = next(); token != Token::End; token = next()) {
    if (failed(take(token, previous)))
      return failure();
    previous = token;
  }
  return success();
}

/// Elided weights would parse to a module that means nothing.
static LogicalResult checkWeights(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  StringRef text = sourceManager.getMemoryBuffer(sourceManager.getMainFileID())->getBuffer();
  size_t elided = text.find("__elided__");
  if (elided != StringRef::npos)
    return emitError(tools::getTextLocation(sourceManager, text.data() + elided, context))
           << "expected the values of a constant, but got '__elided__': the file was "
              "printed without its weights";
  return success();
}

LogicalResult tools::checkParsable(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  return TextChecker(sourceManager, context).run();
}

LogicalResult tools::checkText(llvm::SourceMgr &sourceManager, MLIRContext &context) {
  return failure(failed(checkParsable(sourceManager, context)) || failed(checkWeights(sourceManager, context)));
}

Location tools::getTextLocation(llvm::SourceMgr &sourceManager, const char *place, MLIRContext &context) {
  unsigned id = sourceManager.getMainFileID();
  auto [line, column] = sourceManager.getLineAndColumn(llvm::SMLoc::getFromPointer(place), id);
  return FileLineColLoc::get(&context, sourceManager.getMemoryBuffer(id)->getBufferIdentifier(), line, column);
}
