// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of keys, of any size, in a type that takes ELEMENT's place.
func.func @append(%cache: tensor<?x?x?x?xELEMENT>, %x: tensor<?x?x?x?xELEMENT>, %past: i64) -> tensor<?x?x?x?xELEMENT> {
  %y = resid.append %cache, %x past(%past) : tensor<?x?x?x?xELEMENT>, tensor<?x?x?x?xELEMENT>
  return %y : tensor<?x?x?x?xELEMENT>
}
