; Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; What all entries of an object share about their arrays: which is NULL, and whether two overlap. Written in LLVM IR, since an object
; can have no library; linked into each by Refusals.cpp. Does not own the tables (ArrayTable.h).

; An array, by its number: arguments come first. The bytes from its first element to its end, 0 where it has none; below 0,
; they are %extents[-1 - it]. Whether its rows are apart: then the bytes from row to row, and those of a row, stand after them in
; %extents. And where in the table the numbers of the arguments stand whose buffer it may have, which -1 ends.
%Fact = type { i64, i64, i64 }

define i64 @resid.arrays_extent(ptr %table, ptr %extents, i64 %array) alwaysinline {
entry:
  %at = getelementptr %Fact, ptr %table, i64 %array
  %known = load i64, ptr %at
  %is_known = icmp sge i64 %known, 0
  br i1 %is_known, label %done, label %open
open:
  %slot = xor i64 %known, -1
  %open_at = getelementptr i64, ptr %extents, i64 %slot
  %computed = load i64, ptr %open_at
  br label %done
done:
  %extent = phi i64 [ %known, %entry ], [ %computed, %open ]
  ret i64 %extent
}

; Whether an address is NULL.
define i1 @resid.arrays_any_null(ptr %starts, i64 %count) {
entry:
  br label %next
next:
  %array = phi i64 [ 0, %entry ], [ %following, %look ]
  %is_over = icmp uge i64 %array, %count
  br i1 %is_over, label %none, label %look
look:
  %start_at = getelementptr i64, ptr %starts, i64 %array
  %start = load i64, ptr %start_at
  %is_null = icmp eq i64 %start, 0
  %following = add i64 %array, 1
  br i1 %is_null, label %found, label %next
found:
  ret i1 true
none:
  ret i1 false
}

; The number of the first array that is NULL although it has elements; else -1.
define i64 @resid.arrays_find_null(ptr %starts, ptr %extents, ptr %table, i64 %count) {
entry:
  br label %next
next:
  %array = phi i64 [ 0, %entry ], [ %following, %step ]
  %is_over = icmp uge i64 %array, %count
  br i1 %is_over, label %none, label %look
look:
  %start_at = getelementptr i64, ptr %starts, i64 %array
  %start = load i64, ptr %start_at
  %is_null = icmp eq i64 %start, 0
  br i1 %is_null, label %measure, label %step
measure:
  %extent = call i64 @resid.arrays_extent(ptr %table, ptr %extents, i64 %array)
  %has_elements = icmp ne i64 %extent, 0
  br i1 %has_elements, label %found, label %step
step:
  %following = add i64 %array, 1
  br label %next
found:
  ret i64 %array
none:
  ret i64 -1
}

; Whether two strided arrays take turns, each in columns of its own. With one stride, and d the distance of their first elements
; within it: the array that begins first ends its row before the other one's begins, and the other one's ends before the next
; row. Arrays that overlap have elements, so no stride is 0.
define i1 @resid.arrays_take_turns(ptr %starts, ptr %extents, ptr %table, i64 %a, i64 %b) {
entry:
  %a_at = getelementptr i64, ptr %starts, i64 %a
  %b_at = getelementptr i64, ptr %starts, i64 %b
  %a_start = load i64, ptr %a_at
  %b_start = load i64, ptr %b_at
  %is_a_first = icmp ult i64 %a_start, %b_start
  %first = select i1 %is_a_first, i64 %a, i64 %b
  %later = select i1 %is_a_first, i64 %b, i64 %a
  %first_start = select i1 %is_a_first, i64 %a_start, i64 %b_start
  %later_start = select i1 %is_a_first, i64 %b_start, i64 %a_start
  %first_fact = getelementptr %Fact, ptr %table, i64 %first
  %later_fact = getelementptr %Fact, ptr %table, i64 %later
  %first_known = load i64, ptr %first_fact
  %later_known = load i64, ptr %later_fact
  %first_slot = xor i64 %first_known, -1
  %later_slot = xor i64 %later_known, -1
  %first_words = getelementptr i64, ptr %extents, i64 %first_slot
  %later_words = getelementptr i64, ptr %extents, i64 %later_slot
  %first_stride_at = getelementptr i64, ptr %first_words, i64 1
  %first_width_at = getelementptr i64, ptr %first_words, i64 2
  %later_stride_at = getelementptr i64, ptr %later_words, i64 1
  %later_width_at = getelementptr i64, ptr %later_words, i64 2
  %stride = load i64, ptr %first_stride_at
  %later_stride = load i64, ptr %later_stride_at
  %first_width = load i64, ptr %first_width_at
  %later_width = load i64, ptr %later_width_at
  %distance = sub i64 %later_start, %first_start
  %shift = urem i64 %distance, %stride
  %end = add i64 %shift, %later_width
  %is_one_stride = icmp eq i64 %stride, %later_stride
  %is_after_first = icmp uge i64 %shift, %first_width
  %is_before_next = icmp ule i64 %end, %stride
  %is_within = and i1 %is_after_first, %is_before_next
  %takes_turns = and i1 %is_one_stride, %is_within
  ret i1 %takes_turns
}

; Whether an output may have the buffer of an array.
define i1 @resid.arrays_may_share(ptr %table, i64 %output, i64 %other) {
entry:
  %fact = getelementptr %Fact, ptr %table, i64 %output
  %shared_at = getelementptr i64, ptr %fact, i64 2
  %first = load i64, ptr %shared_at
  br label %next
next:
  %word = phi i64 [ %first, %entry ], [ %next_word, %compare ]
  %number_at = getelementptr i64, ptr %table, i64 %word
  %number = load i64, ptr %number_at
  %is_over = icmp slt i64 %number, 0
  br i1 %is_over, label %no, label %compare
compare:
  %next_word = add i64 %word, 1
  %is_it = icmp eq i64 %number, %other
  br i1 %is_it, label %yes, label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; Fills %ends with the ends of arrays; where one has no element, with 0.
define void @resid.arrays_fill_ends(ptr %starts, ptr %extents, ptr %table, i64 %count, ptr %ends) {
entry:
  br label %next
next:
  %array = phi i64 [ 0, %entry ], [ %following, %fill ]
  %is_over = icmp uge i64 %array, %count
  br i1 %is_over, label %done, label %fill
fill:
  %start_at = getelementptr i64, ptr %starts, i64 %array
  %start = load i64, ptr %start_at
  %extent = call i64 @resid.arrays_extent(ptr %table, ptr %extents, i64 %array)
  %end = add i64 %start, %extent
  %is_empty = icmp eq i64 %extent, 0
  %own_end = select i1 %is_empty, i64 0, i64 %end
  %end_at = getelementptr i64, ptr %ends, i64 %array
  store i64 %own_end, ptr %end_at
  %following = add i64 %array, 1
  br label %next
done:
  ret void
}

; Whether two arrays share a byte.
define i1 @resid.arrays_meet(ptr %starts, ptr %ends, i64 %a, i64 %b) alwaysinline {
entry:
  %a_start_at = getelementptr i64, ptr %starts, i64 %a
  %b_start_at = getelementptr i64, ptr %starts, i64 %b
  %a_end_at = getelementptr i64, ptr %ends, i64 %a
  %b_end_at = getelementptr i64, ptr %ends, i64 %b
  %a_start = load i64, ptr %a_start_at
  %b_start = load i64, ptr %b_start_at
  %a_end = load i64, ptr %a_end_at
  %b_end = load i64, ptr %b_end_at
  %a_begins_before = icmp ult i64 %a_start, %b_end
  %b_begins_before = icmp ult i64 %b_start, %a_end
  %meet = and i1 %a_begins_before, %b_begins_before
  ret i1 %meet
}

; Whether an output and an array before it, which share a byte, are not allowed to. Arrays that may be one have one shape, so with
; the same first and last element their strides are equal, if there is more than one row.
define i1 @resid.arrays_clash(ptr %starts, ptr %ends, ptr %extents, ptr %table, i64 %output, i64 %other) noinline {
entry:
  %start_at = getelementptr i64, ptr %starts, i64 %output
  %other_start_at = getelementptr i64, ptr %starts, i64 %other
  %end_at = getelementptr i64, ptr %ends, i64 %output
  %other_end_at = getelementptr i64, ptr %ends, i64 %other
  %start = load i64, ptr %start_at
  %other_start = load i64, ptr %other_start_at
  %end = load i64, ptr %end_at
  %other_end = load i64, ptr %other_end_at
  %is_same_start = icmp eq i64 %start, %other_start
  %is_same_end = icmp eq i64 %end, %other_end
  %is_same = and i1 %is_same_start, %is_same_end
  br i1 %is_same, label %check_shared, label %check_strides
check_shared:
  %is_shared = call i1 @resid.arrays_may_share(ptr %table, i64 %output, i64 %other)
  br i1 %is_shared, label %apart, label %check_strides
check_strides:
  %fact = getelementptr %Fact, ptr %table, i64 %output
  %strided_at = getelementptr i64, ptr %fact, i64 1
  %other_fact = getelementptr %Fact, ptr %table, i64 %other
  %other_strided_at = getelementptr i64, ptr %other_fact, i64 1
  %strided = load i64, ptr %strided_at
  %other_strided = load i64, ptr %other_strided_at
  %both = and i64 %strided, %other_strided
  %are_strided = icmp ne i64 %both, 0
  br i1 %are_strided, label %check_turns, label %clash
check_turns:
  %takes_turns = call i1 @resid.arrays_take_turns(ptr %starts, ptr %extents, ptr %table, i64 %output, i64 %other)
  br i1 %takes_turns, label %apart, label %clash
clash:
  ret i1 true
apart:
  ret i1 false
}

; The first output that clashes with an array before it, in the upper 32 bits, and that array; else -1. Looks at each pair.
define i64 @resid.arrays_find_clash(ptr %starts, ptr %ends, ptr %extents, ptr %table, i64 %first_output, i64 %count) {
entry:
  br label %next_output
next_output:
  %output = phi i64 [ %first_output, %entry ], [ %following_output, %step_output ]
  %is_over = icmp uge i64 %output, %count
  br i1 %is_over, label %none, label %next_other
next_other:
  %other = phi i64 [ 0, %next_output ], [ %following_other, %step_other ]
  %is_itself = icmp uge i64 %other, %output
  br i1 %is_itself, label %step_output, label %compare
compare:
  %meet = call i1 @resid.arrays_meet(ptr %starts, ptr %ends, i64 %output, i64 %other)
  br i1 %meet, label %look, label %step_other
look:
  %clashes = call i1 @resid.arrays_clash(ptr %starts, ptr %ends, ptr %extents, ptr %table, i64 %output, i64 %other)
  br i1 %clashes, label %found, label %step_other
step_other:
  %following_other = add i64 %other, 1
  br label %next_other
step_output:
  %following_output = add i64 %output, 1
  br label %next_output
found:
  %high = shl i64 %output, 32
  %pair = or i64 %high, %other
  ret i64 %pair
none:
  ret i64 -1
}

; The string of this number among strings that stand one after the other.
define ptr @resid.arrays_name(ptr %names, i64 %number) {
entry:
  br label %next
next:
  %at = phi ptr [ %names, %entry ], [ %after, %step ]
  %left = phi i64 [ %number, %entry ], [ %next_left, %step ]
  %is_it = icmp eq i64 %left, 0
  br i1 %is_it, label %found, label %step
step:
  %byte = load i8, ptr %at
  %after = getelementptr i8, ptr %at, i64 1
  %ends = icmp eq i8 %byte, 0
  %one = zext i1 %ends to i64
  %next_left = sub i64 %left, %one
  br label %next
found:
  ret ptr %at
}
