// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags of resid-lsp-server.

include "tools/flags/Shared.td"

def grp_protocol : OptionGroup<"protocol">, HelpText<"Protocol">;
defm log : Value<"log", "KIND", grp_protocol, "error | info (default) | verbose: how much the server logs on standard error">,
  Values<"error,info,verbose">;
def pretty : Switch<"pretty", grp_protocol, "indent what is sent">;
def lit_test : Switch<"lit-test", grp_protocol,
  "for tests: messages are separated by lines of '// -----', indented, and all logged">;
