; Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; What all F_dl functions of an object share: one DLTensor, checked and taken apart. Written in LLVM IR, since an object can
; have no library; linked into each by DLPackEntry.cpp. Does not own the order of arguments.

; data, device (type and number), number of dimensions, element type (code, bits, lanes), shape, strides, byte offset
%DLTensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }
; The first element, the distance of rows, and then the sizes, as many as there are dimensions. The caller puts in the sizes that
; are known, and -1 for the others.
%Array = type { ptr, i64, [0 x i64] }

; Fills %array from %tensor and answers 0. `strided`: the dimensions before the last need only be evenly apart.
; Else it answers a packed refusal (RefusalText.h), and the first two words of %array are what was found and expected.
define i32 @resid_dl_read(ptr readonly %tensor, i32 %expected_device, i32 %type, i32 %rank, i1 %strided, ptr %array) noinline nounwind {
entry:
  %no_tensor = icmp eq ptr %tensor, null
  br i1 %no_tensor, label %null_tensor, label %check_device

check_device:
  %device_at = getelementptr %DLTensor, ptr %tensor, i64 0, i32 1
  %device = load i32, ptr %device_at
  %is_there = icmp eq i32 %device, %expected_device
  br i1 %is_there, label %check_type, label %other_device

check_type:
  %type_at = getelementptr %DLTensor, ptr %tensor, i64 0, i32 4
  %own_type = load i32, ptr %type_at
  %is_type = icmp eq i32 %own_type, %type
  br i1 %is_type, label %check_rank, label %other_type

check_rank:
  %rank_at = getelementptr %DLTensor, ptr %tensor, i64 0, i32 3
  %own_rank = load i32, ptr %rank_at
  %is_rank = icmp eq i32 %own_rank, %rank
  br i1 %is_rank, label %take_data, label %other_rank

take_data:
  %data = load ptr, ptr %tensor
  %offset_at = getelementptr %DLTensor, ptr %tensor, i64 0, i32 7
  %offset = load i64, ptr %offset_at
  %first = getelementptr i8, ptr %data, i64 %offset
  ; NULL stays NULL, which the function refuses where there are elements.
  %no_data = icmp eq ptr %data, null
  %start = select i1 %no_data, ptr null, ptr %first
  store ptr %start, ptr %array
  %row_at = getelementptr %Array, ptr %array, i64 0, i32 1
  %count = sext i32 %rank to i64
  %shape_at = getelementptr %DLTensor, ptr %tensor, i64 0, i32 5
  %shape = load ptr, ptr %shape_at
  %no_shape = icmp eq ptr %shape, null
  %has_dims = icmp sgt i64 %count, 0
  br i1 %has_dims, label %check_shape, label %done

check_shape:
  br i1 %no_shape, label %null_shape, label %sizes

; The sizes, first to last; the last one is what rows are apart if nothing else is said.
sizes:
  %d = phi i64 [ 0, %check_shape ], [ %next_d, %take_size ]
  %was_empty = phi i1 [ false, %check_shape ], [ %is_empty, %take_size ]
  %size_in = getelementptr i64, ptr %shape, i64 %d
  %size = load i64, ptr %size_in
  %size_out = getelementptr %Array, ptr %array, i64 0, i32 2, i64 %d
  %wanted = load i64, ptr %size_out
  %is_wanted = icmp eq i64 %size, %wanted
  %is_any = icmp slt i64 %wanted, 0
  %is_size = icmp sge i64 %size, 0
  %is_any_size = and i1 %is_any, %is_size
  %fits = or i1 %is_wanted, %is_any_size
  %is_good = and i1 %fits, %is_size
  br i1 %is_good, label %take_size, label %other_size

take_size:
  store i64 %size, ptr %size_out
  store i64 %size, ptr %row_at
  %is_zero = icmp eq i64 %size, 0
  %is_empty = or i1 %was_empty, %is_zero
  %next_d = add i64 %d, 1
  %has_next = icmp slt i64 %next_d, %count
  br i1 %has_next, label %sizes, label %check_strides

; Where nothing is stored, strides say nothing.
check_strides:
  %strides_at = getelementptr %DLTensor, ptr %tensor, i64 0, i32 6
  %strides = load ptr, ptr %strides_at
  %no_strides = icmp eq ptr %strides, null
  %is_row_major = or i1 %no_strides, %is_empty
  br i1 %is_row_major, label %done, label %steps

; The strides, last to first. A size of 1 takes no step, whatever its stride is; %expected is what a step has to be, and %open
; whether the distance of rows is still to be found.
steps:
  %e = phi i64 [ %count, %check_strides ], [ %axis, %step_done ]
  %expected = phi i64 [ 1, %check_strides ], [ %next_expected, %step_done ]
  %open = phi i1 [ %strided, %check_strides ], [ %next_open, %step_done ]
  %axis = sub i64 %e, 1
  %axis_size_at = getelementptr i64, ptr %shape, i64 %axis
  %axis_size = load i64, ptr %axis_size_at
  %stride_at = getelementptr i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %stride_at
  %is_one = icmp eq i64 %axis_size, 1
  br i1 %is_one, label %step_done, label %check_step

check_step:
  %is_last = icmp eq i64 %e, %count
  %is_inner = xor i1 %is_last, true
  %finds_row = and i1 %open, %is_inner
  br i1 %finds_row, label %take_row, label %compare_step

take_row:
  store i64 %stride, ptr %row_at
  br label %step_taken

compare_step:
  %is_expected = icmp eq i64 %stride, %expected
  br i1 %is_expected, label %step_taken, label %other_stride

step_taken:
  %open_after = phi i1 [ false, %take_row ], [ %open, %compare_step ]
  %span = mul i64 %stride, %axis_size
  br label %step_done

step_done:
  %next_expected = phi i64 [ %expected, %steps ], [ %span, %step_taken ]
  %next_open = phi i1 [ %open, %steps ], [ %open_after, %step_taken ]
  %has_more = icmp sgt i64 %axis, 0
  br i1 %has_more, label %steps, label %done

done:
  ret i32 0

; Refusals: a status in 8 bits, a reason in the next 8, the number of a dimension in the rest.
null_tensor:
  ret i32 1535 ; -1, 5
other_device:
  %wide_device = zext i32 %device to i64
  %wide_expected_device = zext i32 %expected_device to i64
  br label %refuse
other_type:
  %wide_own_type = zext i32 %own_type to i64
  %wide_type = zext i32 %type to i64
  br label %refuse
other_rank:
  %wide_own_rank = sext i32 %own_rank to i64
  %wide_rank = sext i32 %rank to i64
  br label %refuse
null_shape:
  ret i32 2559 ; -1, 9
other_size:
  %narrow_d = trunc i64 %d to i32
  %d_detail = shl i32 %narrow_d, 16
  %size_refusal = or i32 %d_detail, 2814 ; -2, 10
  br label %refuse
other_stride:
  %narrow_axis = trunc i64 %axis to i32
  %axis_detail = shl i32 %narrow_axis, 16
  %stride_refusal = or i32 %axis_detail, 3066 ; -6, 11
  br label %refuse
refuse:
  ; -6 and 6, -3 and 7, -2 and 8
  %refusal = phi i32 [ 1786, %other_device ], [ 2045, %other_type ], [ 2302, %other_rank ], [ %size_refusal, %other_size ], [ %stride_refusal, %other_stride ]
  %found = phi i64 [ %wide_device, %other_device ], [ %wide_own_type, %other_type ], [ %wide_own_rank, %other_rank ], [ %size, %other_size ], [ %stride, %other_stride ]
  %expectation = phi i64 [ %wide_expected_device, %other_device ], [ %wide_type, %other_type ], [ %wide_rank, %other_rank ], [ %wanted, %other_size ], [ %expected, %other_stride ]
  %found_at = getelementptr i64, ptr %array, i64 0
  store i64 %found, ptr %found_at
  %expectation_at = getelementptr i64, ptr %array, i64 1
  store i64 %expectation, ptr %expectation_at
  ret i32 %refusal
}

; What the answers other than 0 are told as, after the name of the tensor; \01 and \03 stand for words of %array (Refuse.ll).
@resid_dl_null_tensor = private unnamed_addr constant [28 x i8] c" is NULL, expected a tensor\00"
@resid_dl_cpu = private unnamed_addr constant [43 x i8] c": device type is \01\01, expected \01\02 (the CPU)\00"
@resid_dl_cuda = private unnamed_addr constant [40 x i8] c": device type is \01\01, expected \01\02 (CUDA)\00"
@resid_dl_type = private unnamed_addr constant [34 x i8] c": element type is \03\01, expected \03\02\00"
@resid_dl_rank = private unnamed_addr constant [42 x i8] c": number of dimensions is \01\01, expected \01\02\00"
@resid_dl_null_shape = private unnamed_addr constant [32 x i8] c": shape is NULL, expected sizes\00"
@resid_dl_size = private unnamed_addr constant [34 x i8] c": dimension \01\03 is \01\01, expected \01\02\00"
@resid_dl_any_size = private unnamed_addr constant [41 x i8] c": dimension \01\03 is \01\01, expected 0 or more\00"
@resid_dl_stride = private unnamed_addr constant [44 x i8] c": stride of dimension \01\03 is \01\01, expected \01\02\00"

; The text of a packed refusal. Puts the number of the dimension into the third word.
define ptr @resid_dl_text(i32 %packed, ptr %array) noinline nounwind cold "no-jump-tables"="true" {
entry:
  %dimension = lshr i32 %packed, 16
  %wide_dimension = zext i32 %dimension to i64
  %dimension_at = getelementptr i64, ptr %array, i64 2
  store i64 %wide_dimension, ptr %dimension_at
  %expected_at = getelementptr i64, ptr %array, i64 1
  %expected = load i64, ptr %expected_at
  %is_cpu = icmp eq i64 %expected, 1
  %device = select i1 %is_cpu, ptr @resid_dl_cpu, ptr @resid_dl_cuda
  %is_any = icmp slt i64 %expected, 0
  %size = select i1 %is_any, ptr @resid_dl_any_size, ptr @resid_dl_size
  %shifted = lshr i32 %packed, 8
  %reason = and i32 %shifted, 255
  switch i32 %reason, label %null_tensor [ i32 6, label %device_text
                                           i32 7, label %type_text
                                           i32 8, label %rank_text
                                           i32 9, label %null_shape
                                           i32 10, label %size_text
                                           i32 11, label %stride_text ]
null_tensor:
  ret ptr @resid_dl_null_tensor
device_text:
  ret ptr %device
type_text:
  ret ptr @resid_dl_type
rank_text:
  ret ptr @resid_dl_rank
null_shape:
  ret ptr @resid_dl_null_shape
size_text:
  ret ptr %size
stride_text:
  ret ptr @resid_dl_stride
}
