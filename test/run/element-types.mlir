// Elements that are in memory other than they are computed with: i1 is a byte there, index 64 bits, and the 4 bits of a
// temporary a byte. As arguments, results and temporaries, on rows with whole steps, tails, and both.
// REQUIRES: resid-run, x86_64
// RUN: resid-run %s --entry=compare --arg=f32[3x1]=random:1 --arg=f32[3x1]=random:3 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose --arg=i1[3x1]=random:2 --arg=f32[3x1]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose_columns --arg=i1[1]=random:2 --arg=f32[3x1]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=count --arg=index[3x1]=random:2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=between --arg=f32[3x1]=random:1 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=four_bits --arg=i32[3x1]=random:2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=compare --arg=f32[5x37]=random:1 --arg=f32[5x37]=random:3 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=compare --arg=f32[5x37]=random:1 --arg=f32[5x37]=random:3 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose --arg=i1[5x37]=random:2 --arg=f32[5x37]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose --arg=i1[5x37]=random:2 --arg=f32[5x37]=random:1 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose_columns --arg=i1[37]=random:2 --arg=f32[5x37]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose_columns --arg=i1[37]=random:2 --arg=f32[5x37]=random:1 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=count --arg=index[5x37]=random:2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=count --arg=index[5x37]=random:2 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=between --arg=f32[5x37]=random:1 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=between --arg=f32[5x37]=random:1 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=four_bits --arg=i32[5x37]=random:2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=four_bits --arg=i32[5x37]=random:2 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=compare --arg=f32[2x64]=random:1 --arg=f32[2x64]=random:3 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose --arg=i1[2x64]=random:2 --arg=f32[2x64]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose_columns --arg=i1[64]=random:2 --arg=f32[2x64]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=count --arg=index[2x64]=random:2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=between --arg=f32[2x64]=random:1 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=four_bits --arg=i32[2x64]=random:2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=compare --arg=f32[4x133]=random:1 --arg=f32[4x133]=random:3 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=compare --arg=f32[4x133]=random:1 --arg=f32[4x133]=random:3 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose --arg=i1[4x133]=random:2 --arg=f32[4x133]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose --arg=i1[4x133]=random:2 --arg=f32[4x133]=random:1 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose_columns --arg=i1[133]=random:2 --arg=f32[4x133]=random:1 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=choose_columns --arg=i1[133]=random:2 --arg=f32[4x133]=random:1 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=count --arg=index[4x133]=random:2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=count --arg=index[4x133]=random:2 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=between --arg=f32[4x133]=random:1 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=between --arg=f32[4x133]=random:1 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=four_bits --arg=i32[4x133]=random:2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=four_bits --arg=i32[4x133]=random:2 --mcpu=x86-64-v2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=bytes --arg=i8[4x133]=random:2 --arg=f32[4x133]=random:1 --check | FileCheck %s --check-prefix=ONE
// ONE: out0: ok
// TWO-COUNT-2: out{{[01]}}: ok

#same = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#turned = affine_map<(i, j) -> (j, i)>

func.func @compare(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xi1> {
  %m = arith.cmpf ogt, %x, %y : tensor<?x?xf32>
  return %m : tensor<?x?xi1>
}

func.func @choose(%m: tensor<?x?xi1>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = arith.negf %x : tensor<?x?xf32>
  %y = arith.select %m, %x, %n : tensor<?x?xi1>, tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @choose_columns(%m: tensor<?xi1>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.generic {indexing_maps = [#columns, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m, %x : tensor<?xi1>, tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%keep: i1, %element: f32, %old: f32):
    %zero = arith.constant 0.0 : f32
    %chosen = arith.select %keep, %element, %zero : f32
    linalg.yield %chosen : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @count(%x: tensor<?x?xindex>) -> tensor<?x?xindex> {
  %y = arith.addi %x, %x : tensor<?x?xindex>
  return %y : tensor<?x?xindex>
}

// The widest element tells how many columns an access of a GPU has: two, which are half a word of bytes.
func.func @bytes(%x: tensor<?x?xi8>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %number = arith.sitofp %x : tensor<?x?xi8> to tensor<?x?xf32>
  %sum = arith.addf %number, %y : tensor<?x?xf32>
  return %sum : tensor<?x?xf32>
}

// The mask is asked for in two orders, so that it is a temporary in memory.
func.func @between(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %width = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %width) : tensor<?x?xi1>
  %m = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?x?xi1>) {
  ^bb0(%element: f32, %old: i1):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %element, %zero : f32
    linalg.yield %positive : i1
  } -> tensor<?x?xi1>
  %y = arith.uitofp %m : tensor<?x?xi1> to tensor<?x?xf32>
  %space = tensor.empty(%width, %rows) : tensor<?x?xf32>
  %turned = linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<?x?xi1>) outs(%space : tensor<?x?xf32>) {
  ^bb0(%positive: i1, %old: f32):
    %number = arith.uitofp %positive : i1 to f32
    linalg.yield %number : f32
  } -> tensor<?x?xf32>
  return %y, %turned : tensor<?x?xf32>, tensor<?x?xf32>
}

func.func @four_bits(%x: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xi32>
  %width = tensor.dim %x, %c1 : tensor<?x?xi32>
  %low = arith.trunci %x : tensor<?x?xi32> to tensor<?x?xi4>
  %y = arith.extsi %low : tensor<?x?xi4> to tensor<?x?xi32>
  %space = tensor.empty(%width, %rows) : tensor<?x?xi32>
  %turned = linalg.generic {indexing_maps = [#turned, #same], iterator_types = ["parallel", "parallel"]}
      ins(%low : tensor<?x?xi4>) outs(%space : tensor<?x?xi32>) {
  ^bb0(%bits: i4, %old: i32):
    %number = arith.extsi %bits : i4 to i32
    linalg.yield %number : i32
  } -> tensor<?x?xi32>
  return %y, %turned : tensor<?x?xi32>, tensor<?x?xi32>
}
