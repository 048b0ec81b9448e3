# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Libraries that do the same work. Each is a class with a title and variants(case, arrays); what is not installed says so.

def find(native, options, threads):
    return []
