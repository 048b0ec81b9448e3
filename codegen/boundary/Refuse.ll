; Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; What all refusals of an object share: a line of text for resid_ctx.log, made by a program of bytes (RefusalProgram.h).
; Written in LLVM IR, since an object can have no library; linked into each by Refusals.cpp. Does not own the programs.

; The length, and the bytes.
%Line = type { i64, [1024 x i8] }

; What does not fit is left away; the last byte stays free for the end of the string.
define void @resid.refuse_put(ptr %line, i8 %byte) {
entry:
  %length = load i64, ptr %line
  %fits = icmp ult i64 %length, 1023
  br i1 %fits, label %append, label %done
append:
  %place = getelementptr %Line, ptr %line, i64 0, i32 1, i64 %length
  store i8 %byte, ptr %place
  %longer = add i64 %length, 1
  store i64 %longer, ptr %line
  br label %done
done:
  ret void
}

define void @resid.refuse_put_number(ptr %line, i64 %number) {
entry:
  %digits = alloca [20 x i8]
  %is_negative = icmp slt i64 %number, 0
  %opposite = sub i64 0, %number
  ; As an unsigned number, which the least one is right as too.
  %size = select i1 %is_negative, i64 %opposite, i64 %number
  br i1 %is_negative, label %sign, label %divide
sign:
  call void @resid.refuse_put(ptr %line, i8 45)
  br label %divide
divide:
  %rest = phi i64 [ %size, %entry ], [ %size, %sign ], [ %quotient, %divide ]
  %count = phi i64 [ 0, %entry ], [ 0, %sign ], [ %more, %divide ]
  %quotient = udiv i64 %rest, 10
  %tens = mul i64 %quotient, 10
  %digit = sub i64 %rest, %tens
  %low = trunc i64 %digit to i8
  %character = add i8 %low, 48
  %digit_at = getelementptr [20 x i8], ptr %digits, i64 0, i64 %count
  store i8 %character, ptr %digit_at
  %more = add i64 %count, 1
  %is_last = icmp eq i64 %quotient, 0
  br i1 %is_last, label %write, label %divide
write:
  %left = phi i64 [ %more, %divide ], [ %index, %write ]
  %index = sub i64 %left, 1
  %next_at = getelementptr [20 x i8], ptr %digits, i64 0, i64 %index
  %next = load i8, ptr %next_at
  call void @resid.refuse_put(ptr %line, i8 %next)
  %is_written = icmp eq i64 %index, 0
  br i1 %is_written, label %done, label %write
done:
  ret void
}

; Hands the line to the log, where there is one, and answers the status. %code: the status in 8 bits, a reason in the next 8,
; a detail in the rest. The programs may read %value and %words; %prefix runs first.
define i32 @resid.refuse(ptr %ctx, i32 %code, i64 %value, ptr %words, ptr %prefix, ptr %program) "no-jump-tables"="true" {
entry:
  %line = alloca %Line
  %stack = alloca [256 x i64]
  %height_at = alloca i64
  %pc_at = alloca ptr
  %base_at = alloca ptr
  %in_prefix_at = alloca i1
  %low = trunc i32 %code to i8
  %status = sext i8 %low to i32
  %no_context = icmp eq ptr %ctx, null
  br i1 %no_context, label %leave, label %check_version
; Of a context of another version only what has kept its place is read; a number beyond 255 is none, but memory that nobody
; filled in.
check_version:
  %version = load i32, ptr %ctx
  %is_believed = icmp ult i32 %version, 256
  br i1 %is_believed, label %check_log, label %leave
check_log:
  %log_at = getelementptr i8, ptr %ctx, i64 48
  %log = load ptr, ptr %log_at
  %no_log = icmp eq ptr %log, null
  br i1 %no_log, label %leave, label %start
start:
  store i64 0, ptr %line
  store i64 0, ptr %height_at
  store ptr %prefix, ptr %pc_at
  store ptr %prefix, ptr %base_at
  store i1 true, ptr %in_prefix_at
  br label %step

step:
  %pc = load ptr, ptr %pc_at
  %op = load i8, ptr %pc
  %after = getelementptr i8, ptr %pc, i64 1
  store ptr %after, ptr %pc_at
  ; What operands there may be: the two topmost numbers, and what follows the byte.
  %height = load i64, ptr %height_at
  %below = sub i64 %height, 1
  %below2 = sub i64 %height, 2
  %top_at = getelementptr i64, ptr %stack, i64 %below
  %second_at = getelementptr i64, ptr %stack, i64 %below2
  %is_text = icmp uge i8 %op, 32
  br i1 %is_text, label %put_byte, label %choose
put_byte:
  call void @resid.refuse_put(ptr %line, i8 %op)
  br label %step
choose:
  switch i8 %op, label %end [ i8 1, label %push_constant
                              i8 2, label %push_word
                              i8 3, label %push_value
                              i8 4, label %push_status
                              i8 5, label %push_reason
                              i8 6, label %push_detail
                              i8 7, label %put_number
                              i8 8, label %put_text
                              i8 9, label %skip
                              i8 10, label %store_word
                              i8 11, label %negate
                              i8 12, label %binary
                              i8 13, label %binary
                              i8 14, label %binary
                              i8 15, label %binary
                              i8 16, label %binary
                              i8 17, label %binary
                              i8 18, label %binary
                              i8 19, label %binary
                              i8 20, label %push_byte ]

push_constant:
  %constant = load i64, ptr %after, align 1
  %after_constant = getelementptr i8, ptr %pc, i64 9
  store ptr %after_constant, ptr %pc_at
  br label %push
push_byte:
  %small = load i8, ptr %after
  %after_small = getelementptr i8, ptr %pc, i64 2
  store ptr %after_small, ptr %pc_at
  %wide_small = zext i8 %small to i64
  br label %push
push_word:
  %word_index = load i16, ptr %after, align 1
  %after_word = getelementptr i8, ptr %pc, i64 3
  store ptr %after_word, ptr %pc_at
  %word_offset = zext i16 %word_index to i64
  %word_at = getelementptr i64, ptr %words, i64 %word_offset
  %word = load i64, ptr %word_at
  br label %push
push_value:
  br label %push
push_status:
  %wide_status = sext i32 %status to i64
  br label %push
push_reason:
  %code_reason = lshr i32 %code, 8
  %reason = and i32 %code_reason, 255
  %wide_reason = zext i32 %reason to i64
  br label %push
push_detail:
  %detail = lshr i32 %code, 16
  %wide_detail = zext i32 %detail to i64
  br label %push
push:
  %pushed = phi i64 [ %constant, %push_constant ], [ %wide_small, %push_byte ], [ %word, %push_word ], [ %value, %push_value ], [ %wide_status, %push_status ], [ %wide_reason, %push_reason ], [ %wide_detail, %push_detail ]
  %free_at = getelementptr i64, ptr %stack, i64 %height
  store i64 %pushed, ptr %free_at
  %higher = add i64 %height, 1
  store i64 %higher, ptr %height_at
  br label %step

put_number:
  store i64 %below, ptr %height_at
  %number = load i64, ptr %top_at
  call void @resid.refuse_put_number(ptr %line, i64 %number)
  br label %step

put_text:
  %text_offset = load i16, ptr %after, align 1
  %after_text = getelementptr i8, ptr %pc, i64 3
  store ptr %after_text, ptr %pc_at
  %base = load ptr, ptr %base_at
  %wide_text_offset = zext i16 %text_offset to i64
  %text = getelementptr i8, ptr %base, i64 %wide_text_offset
  br label %next_character
next_character:
  %character_at = phi ptr [ %text, %put_text ], [ %following, %put_character ]
  %character = load i8, ptr %character_at
  %is_over = icmp eq i8 %character, 0
  br i1 %is_over, label %step, label %put_character
put_character:
  call void @resid.refuse_put(ptr %line, i8 %character)
  %following = getelementptr i8, ptr %character_at, i64 1
  br label %next_character

skip:
  store i64 %below, ptr %height_at
  %distance = load i16, ptr %after, align 1
  %wide_distance = zext i16 %distance to i64
  %condition = load i64, ptr %top_at
  %is_false = icmp eq i64 %condition, 0
  %skipped = select i1 %is_false, i64 %wide_distance, i64 0
  %after_skip = getelementptr i8, ptr %pc, i64 3
  %target = getelementptr i8, ptr %after_skip, i64 %skipped
  store ptr %target, ptr %pc_at
  br label %step

store_word:
  store i64 %below, ptr %height_at
  %stored_index = load i16, ptr %after, align 1
  %after_store = getelementptr i8, ptr %pc, i64 3
  store ptr %after_store, ptr %pc_at
  %wide_stored_index = zext i16 %stored_index to i64
  %stored_at = getelementptr i64, ptr %words, i64 %wide_stored_index
  %stored = load i64, ptr %top_at
  store i64 %stored, ptr %stored_at
  br label %step

negate:
  %negated = load i64, ptr %top_at
  %was_zero = icmp eq i64 %negated, 0
  %truth = zext i1 %was_zero to i64
  store i64 %truth, ptr %top_at
  br label %step

binary:
  store i64 %below, ptr %height_at
  %a = load i64, ptr %second_at
  %b = load i64, ptr %top_at
  switch i8 %op, label %quotient [ i8 12, label %equal
                                   i8 13, label %less
                                   i8 14, label %both
                                   i8 15, label %sum
                                   i8 16, label %difference
                                   i8 17, label %product
                                   i8 18, label %remainder ]
equal:
  %are_equal = icmp eq i64 %a, %b
  %equal_number = zext i1 %are_equal to i64
  br label %replace
less:
  %is_less = icmp slt i64 %a, %b
  %less_number = zext i1 %is_less to i64
  br label %replace
both:
  %a_true = icmp ne i64 %a, 0
  %b_true = icmp ne i64 %b, 0
  %both_true = and i1 %a_true, %b_true
  %both_number = zext i1 %both_true to i64
  br label %replace
sum:
  %total = add i64 %a, %b
  br label %replace
difference:
  %change = sub i64 %a, %b
  br label %replace
; Beyond 64 bits it is the largest number: the operands are sizes.
product:
  %wide = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %exact = extractvalue { i64, i1 } %wide, 0
  %overflows = extractvalue { i64, i1 } %wide, 1
  %saturated = select i1 %overflows, i64 9223372036854775807, i64 %exact
  br label %replace
remainder:
  %modulo = urem i64 %a, %b
  br label %replace
quotient:
  %ratio = udiv i64 %a, %b
  br label %replace
replace:
  %result = phi i64 [ %equal_number, %equal ], [ %less_number, %less ], [ %both_number, %both ], [ %total, %sum ], [ %change, %difference ], [ %saturated, %product ], [ %modulo, %remainder ], [ %ratio, %quotient ]
  store i64 %result, ptr %second_at
  br label %step

end:
  %was_prefix = load i1, ptr %in_prefix_at
  store i1 false, ptr %in_prefix_at
  store ptr %program, ptr %pc_at
  store ptr %program, ptr %base_at
  br i1 %was_prefix, label %step, label %finish
finish:
  %length = load i64, ptr %line
  %end_at = getelementptr %Line, ptr %line, i64 0, i32 1, i64 %length
  store i8 0, ptr %end_at
  %first_at = getelementptr %Line, ptr %line, i64 0, i32 1
  %user_at = getelementptr i8, ptr %ctx, i64 8
  %user = load ptr, ptr %user_at
  call void %log(ptr %user, i32 0, ptr %first_at)
  br label %leave
leave:
  ret i32 %status
}

declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
