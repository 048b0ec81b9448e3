// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags that several tools share, and the forms that flags take. Owns how a flag is spelled, not what it means.

#ifndef RESID_TOOLS_FLAGS_SHARED_TD
#define RESID_TOOLS_FLAGS_SHARED_TD

include "llvm/Option/OptParser.td"
include "mlir/IR/EnumAttr.td"
include "passes/Choices.td"

// A flag that counts each time it is given. Others that take a value may be given once.
def Repeatable : OptionFlag;
// A flag whose value may be the empty text.
def MayBeEmpty : OptionFlag;

// A flag with a value, as --name=VALUE or --name VALUE, and with one dash, which users of other compilers type.
multiclass Value<string name, string value, OptionGroup group, string help, list<OptionFlag> flags = []> {
  def NAME : Joined<["--", "-"], name # "=">, MetaVarName<value>, Group<group>, HelpText<help>, Flags<flags>;
  def NAME # "_separate" : Separate<["--", "-"], name>, MetaVarName<value>, Alias<!cast<Option>(NAME)>, Flags<flags>;
}

class Switch<string name, OptionGroup group, string help>
    : Flag<["--", "-"], name>, Group<group>, HelpText<help>;

// The value that a switch may have: --name=VALUE only, since a value apart would be taken for the input.
class OptionalValue<string name, string value, OptionGroup group, string help>
    : Joined<["--", "-"], name # "=">, MetaVarName<value>, Group<group>, HelpText<help>;

// The names of an enum's cases, for values of a flag and for its help.
class Names<list<EnumCase> cases> {
  list<string> all = !foreach(case, cases, case.str);
}
class Choices<list<EnumCase> cases, string default> {
  string text = !interleave(!foreach(case, cases, case.str # !if(!eq(case.str, default), " (default)", "")), " | ");
}
// A line for each case, with what it means.
class Meanings<list<EnumCase> cases, string default = ""> {
  string text = !interleave(!foreach(case, cases, case.str # !if(!eq(case.str, default), " (default): ", ": ") #
                            !cast<Resid_Choice>(case).help), " |\n");
}
class ValuesOf<list<EnumCase> cases> : Values<!interleave(Names<cases>.all, ",")>;

class OutputFlag<string help, OptionGroup group>
    : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, Group<group>, HelpText<help>;

def grp_help : OptionGroup<"help">, HelpText<"Help">;
def help : Switch<"help", grp_help, "print this text">;
def help_h : Flag<["-"], "h">, Alias<help>;
def version : Switch<"version", grp_help, "print the version of resid and of LLVM">;

#endif // RESID_TOOLS_FLAGS_SHARED_TD
