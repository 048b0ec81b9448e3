; Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Whether any of many arrays overlap, in fewer steps than there are pairs; linked into each object by Refusals.cpp. Does not own what
; an overlap of two is (Arrays.ll).

declare void @resid.arrays_fill_ends(ptr, ptr, ptr, i64, ptr)
declare i1 @resid.arrays_meet(ptr, ptr, i64, i64)
declare i1 @resid.arrays_clash(ptr, ptr, ptr, ptr, i64, i64)

; Where the array begins that stands at %place of %order.
define i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %place) alwaysinline {
entry:
  %at = getelementptr i16, ptr %order, i64 %place
  %array = load i16, ptr %at
  %wide = zext i16 %array to i64
  %start_at = getelementptr i64, ptr %starts, i64 %wide
  %start = load i64, ptr %start_at
  ret i64 %start
}

define void @resid.arrays_swap(ptr %order, i64 %a, i64 %b) alwaysinline {
entry:
  %a_at = getelementptr i16, ptr %order, i64 %a
  %b_at = getelementptr i16, ptr %order, i64 %b
  %a_array = load i16, ptr %a_at
  %b_array = load i16, ptr %b_at
  store i16 %b_array, ptr %a_at
  store i16 %a_array, ptr %b_at
  ret void
}

; Heapsort's step: moves the array at %root down among the first %size, until none below begins later.
define void @resid.arrays_sift(ptr %starts, ptr %order, i64 %root, i64 %size) {
entry:
  br label %next
next:
  %place = phi i64 [ %root, %entry ], [ %largest, %swap ]
  %twice = shl i64 %place, 1
  %left = add i64 %twice, 1
  %has_left = icmp ult i64 %left, %size
  br i1 %has_left, label %look_right, label %done
look_right:
  %left_key = call i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %left)
  %right = add i64 %twice, 2
  %has_right = icmp ult i64 %right, %size
  br i1 %has_right, label %compare_right, label %compare
compare_right:
  %right_key = call i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %right)
  %is_right_later = icmp ugt i64 %right_key, %left_key
  %later = select i1 %is_right_later, i64 %right, i64 %left
  %later_key = select i1 %is_right_later, i64 %right_key, i64 %left_key
  br label %compare
compare:
  %largest = phi i64 [ %left, %look_right ], [ %later, %compare_right ]
  %largest_key = phi i64 [ %left_key, %look_right ], [ %later_key, %compare_right ]
  %own_key = call i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %place)
  %is_in_order = icmp ule i64 %largest_key, %own_key
  br i1 %is_in_order, label %done, label %swap
swap:
  call void @resid.arrays_swap(ptr %order, i64 %place, i64 %largest)
  br label %next
done:
  ret void
}

define void @resid.arrays_sort(ptr %starts, ptr %order, i64 %size) {
entry:
  br label %next_place
; Arrays that were taken from memory one after the other are in order.
next_place:
  %place = phi i64 [ 0, %entry ], [ %following, %look ]
  %before = phi i64 [ 0, %entry ], [ %key, %look ]
  %is_sorted = icmp uge i64 %place, %size
  br i1 %is_sorted, label %done, label %look
look:
  %key = call i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %place)
  %following = add i64 %place, 1
  %is_in_order = icmp ule i64 %before, %key
  br i1 %is_in_order, label %next_place, label %heapify
heapify:
  %half = lshr i64 %size, 1
  br label %next_root
next_root:
  %roots = phi i64 [ %half, %heapify ], [ %root, %build ]
  %is_heap = icmp eq i64 %roots, 0
  br i1 %is_heap, label %next_last, label %build
build:
  %root = sub i64 %roots, 1
  call void @resid.arrays_sift(ptr %starts, ptr %order, i64 %root, i64 %size)
  br label %next_root
next_last:
  %left = phi i64 [ %size, %next_root ], [ %last, %take ]
  %has_more = icmp ugt i64 %left, 1
  br i1 %has_more, label %take, label %done
take:
  %last = sub i64 %left, 1
  call void @resid.arrays_swap(ptr %order, i64 0, i64 %last)
  call void @resid.arrays_sift(ptr %starts, ptr %order, i64 0, i64 %last)
  br label %next_last
done:
  ret void
}

; Gathers the outputs with elements in %order, by where they begin, and gives how many they are.
define i64 @resid.arrays_order_outputs(ptr %starts, ptr %ends, i64 %first_output, i64 %count, ptr %order) {
entry:
  br label %next
next:
  %array = phi i64 [ %first_output, %entry ], [ %following, %gather ]
  %size = phi i64 [ 0, %entry ], [ %next_size, %gather ]
  %is_over = icmp uge i64 %array, %count
  br i1 %is_over, label %sort, label %gather
gather:
  %end_at = getelementptr i64, ptr %ends, i64 %array
  %end = load i64, ptr %end_at
  %has_elements = icmp ne i64 %end, 0
  %place_at = getelementptr i16, ptr %order, i64 %size
  %number = trunc i64 %array to i16
  store i16 %number, ptr %place_at
  %one = zext i1 %has_elements to i64
  %next_size = add i64 %size, %one
  %following = add i64 %array, 1
  br label %next
sort:
  call void @resid.arrays_sort(ptr %starts, ptr %order, i64 %size)
  ret i64 %size
}

; Whether an array clashes with one of the first %size outputs of %order, all of which begin before its end. %reaching has for each
; place the output up to there that ends last, so that the way back ends where none reaches the array.
define i1 @resid.arrays_clashes_before(ptr %starts, ptr %ends, ptr %extents, ptr %table, ptr %order, ptr %reaching, i64 %size, i64 %array) {
entry:
  %start_at = getelementptr i64, ptr %starts, i64 %array
  %start = load i64, ptr %start_at
  br label %next
next:
  %left = phi i64 [ %size, %entry ], [ %place, %step ]
  %is_over = icmp eq i64 %left, 0
  br i1 %is_over, label %none, label %check_reach
check_reach:
  %place = sub i64 %left, 1
  %reaching_at = getelementptr i16, ptr %reaching, i64 %place
  %reaching_number = load i16, ptr %reaching_at
  %reaching_array = zext i16 %reaching_number to i64
  %reach_at = getelementptr i64, ptr %ends, i64 %reaching_array
  %reach = load i64, ptr %reach_at
  %reaches = icmp ugt i64 %reach, %start
  br i1 %reaches, label %look, label %none
look:
  %number_at = getelementptr i16, ptr %order, i64 %place
  %number = load i16, ptr %number_at
  %before = zext i16 %number to i64
  %meet = call i1 @resid.arrays_meet(ptr %starts, ptr %ends, i64 %before, i64 %array)
  br i1 %meet, label %compare, label %step
compare:
  %is_later = icmp ugt i64 %array, %before
  %output = select i1 %is_later, i64 %array, i64 %before
  %other = select i1 %is_later, i64 %before, i64 %array
  %clashes = call i1 @resid.arrays_clash(ptr %starts, ptr %ends, ptr %extents, ptr %table, i64 %output, i64 %other)
  br i1 %clashes, label %found, label %step
step:
  br label %next
found:
  ret i1 true
none:
  ret i1 false
}

; How many outputs of %order begin before %end, by halves.
define i64 @resid.arrays_count_before(ptr %starts, ptr %order, i64 %size, i64 %end) {
entry:
  br label %next
next:
  %first = phi i64 [ 0, %entry ], [ %next_first, %halve ]
  %length = phi i64 [ %size, %entry ], [ %next_length, %halve ]
  %is_over = icmp eq i64 %length, 0
  br i1 %is_over, label %done, label %halve
halve:
  %half = lshr i64 %length, 1
  %middle = add i64 %first, %half
  %key = call i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %middle)
  %is_before = icmp ult i64 %key, %end
  %after_middle = add i64 %middle, 1
  %next_first = select i1 %is_before, i64 %after_middle, i64 %first
  %below = sub i64 %length, %half
  %rest = sub i64 %below, 1
  %next_length = select i1 %is_before, i64 %rest, i64 %half
  br label %next
done:
  ret i64 %first
}

; Whether an output clashes with another array. %room: 64 bits for each array, and then 32 for each output. Outputs are
; sorted; each is compared with those that begin before it, and each argument with those that begin before its end: n log n steps,
; but for arrays that overlap and may.
define i1 @resid.arrays_any_clash(ptr %starts, ptr %extents, ptr %table, i64 %first_output, i64 %count, ptr %room) {
entry:
  call void @resid.arrays_fill_ends(ptr %starts, ptr %extents, ptr %table, i64 %count, ptr %room)
  %outputs = sub i64 %count, %first_output
  %order = getelementptr i64, ptr %room, i64 %count
  %reaching = getelementptr i16, ptr %order, i64 %outputs
  %size = call i64 @resid.arrays_order_outputs(ptr %starts, ptr %room, i64 %first_output, i64 %count, ptr %order)
  br label %next_place
next_place:
  %place = phi i64 [ 0, %entry ], [ %following_place, %reach ]
  %last = phi i64 [ 0, %entry ], [ %next_last, %reach ]
  %last_end = phi i64 [ 0, %entry ], [ %next_last_end, %reach ]
  %are_outputs_done = icmp uge i64 %place, %size
  br i1 %are_outputs_done, label %next_argument, label %look
look:
  %output_at = getelementptr i16, ptr %order, i64 %place
  %output_number = load i16, ptr %output_at
  %output = zext i16 %output_number to i64
  %start = call i64 @resid.arrays_key(ptr %starts, ptr %order, i64 %place)
  %end_at = getelementptr i64, ptr %room, i64 %output
  %end = load i64, ptr %end_at
  %is_reached = icmp ult i64 %start, %last_end
  br i1 %is_reached, label %look_back, label %reach
look_back:
  %output_clashes = call i1 @resid.arrays_clashes_before(ptr %starts, ptr %room, ptr %extents, ptr %table, ptr %order, ptr %reaching, i64 %place, i64 %output)
  br i1 %output_clashes, label %found, label %reach
reach:
  %ends_last = icmp ugt i64 %end, %last_end
  %next_last = select i1 %ends_last, i64 %output, i64 %last
  %next_last_end = select i1 %ends_last, i64 %end, i64 %last_end
  %reaching_at = getelementptr i16, ptr %reaching, i64 %place
  %reaching_number = trunc i64 %next_last to i16
  store i16 %reaching_number, ptr %reaching_at
  %following_place = add i64 %place, 1
  br label %next_place
next_argument:
  %argument = phi i64 [ 0, %next_place ], [ %following_argument, %search ]
  %is_done = icmp uge i64 %argument, %first_output
  br i1 %is_done, label %none, label %search
search:
  %argument_end_at = getelementptr i64, ptr %room, i64 %argument
  %argument_end = load i64, ptr %argument_end_at
  %before = call i64 @resid.arrays_count_before(ptr %starts, ptr %order, i64 %size, i64 %argument_end)
  %following_argument = add i64 %argument, 1
  %clashes = call i1 @resid.arrays_clashes_before(ptr %starts, ptr %room, ptr %extents, ptr %table, ptr %order, ptr %reaching, i64 %before, i64 %argument)
  br i1 %clashes, label %found, label %next_argument
found:
  ret i1 true
none:
  ret i1 false
}
