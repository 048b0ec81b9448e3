; Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; What all refusals of an object share: a line of text for resid_ctx.log. Written in LLVM IR, since an object can have no
; library; linked into each by Refusals.cpp. Does not own the texts (RefusalText in Refusals.h).

; The length, and the bytes.
%Line = type { i64, [1024 x i8] }

@resid.refuse_types = private unnamed_addr constant [7 x [8 x i8]] [
  [8 x i8] c"int\00\00\00\00\00", [8 x i8] c"uint\00\00\00\00", [8 x i8] c"float\00\00\00", [8 x i8] c"handle\00\00",
  [8 x i8] c"bfloat\00\00", [8 x i8] c"complex\00", [8 x i8] c"bool\00\00\00\00"]
@resid.refuse_code = private unnamed_addr constant [6 x i8] c"code \00"
@resid.refuse_bits = private unnamed_addr constant [10 x i8] c" of bits \00"

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

define void @resid.refuse_put_string(ptr %line, ptr %string) {
entry:
  br label %next
next:
  %at = phi ptr [ %string, %entry ], [ %following, %put ]
  %byte = load i8, ptr %at
  %is_over = icmp eq i8 %byte, 0
  br i1 %is_over, label %done, label %put
put:
  call void @resid.refuse_put(ptr %line, i8 %byte)
  %following = getelementptr i8, ptr %at, i64 1
  br label %next
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

; The 32 bits of a DLDataType (a code, bits, lanes) by the name that DLPack's users know: float32, bfloat16x4.
define void @resid.refuse_put_type(ptr %line, i64 %type) {
entry:
  %code = and i64 %type, 255
  %is_named = icmp ult i64 %code, 7
  br i1 %is_named, label %named, label %unnamed
named:
  %name = getelementptr [8 x i8], ptr @resid.refuse_types, i64 %code
  call void @resid.refuse_put_string(ptr %line, ptr %name)
  br label %put_bits
unnamed:
  call void @resid.refuse_put_string(ptr %line, ptr @resid.refuse_code)
  call void @resid.refuse_put_number(ptr %line, i64 %code)
  call void @resid.refuse_put_string(ptr %line, ptr @resid.refuse_bits)
  br label %put_bits
put_bits:
  %from_bits = lshr i64 %type, 8
  %bits = and i64 %from_bits, 255
  call void @resid.refuse_put_number(ptr %line, i64 %bits)
  %lanes = lshr i64 %type, 16
  %has_lanes = icmp ne i64 %lanes, 1
  br i1 %has_lanes, label %put_lanes, label %done
put_lanes:
  call void @resid.refuse_put(ptr %line, i8 120)
  call void @resid.refuse_put_number(ptr %line, i64 %lanes)
  br label %done
done:
  ret void
}

; Puts a text: bytes as they are, and instead of 1, 2 or 3 the value whose number, plus 1, is the next byte: as a number, as
; the address of a string, as an element type.
define void @resid.refuse_put_text(ptr %line, ptr %text, ptr %values) {
entry:
  br label %next
next:
  %at = phi ptr [ %text, %entry ], [ %after, %put_byte ], [ %after_value, %put_value ]
  %byte = load i8, ptr %at
  %after = getelementptr i8, ptr %at, i64 1
  %is_over = icmp eq i8 %byte, 0
  br i1 %is_over, label %done, label %choose
choose:
  %is_value = icmp ult i8 %byte, 4
  br i1 %is_value, label %take_value, label %put_byte
put_byte:
  call void @resid.refuse_put(ptr %line, i8 %byte)
  br label %next
take_value:
  %number = load i8, ptr %after
  %after_value = getelementptr i8, ptr %at, i64 2
  %wide_number = zext i8 %number to i64
  %index = sub i64 %wide_number, 1
  %value_at = getelementptr i64, ptr %values, i64 %index
  %value = load i64, ptr %value_at
  %is_number = icmp eq i8 %byte, 1
  br i1 %is_number, label %put_number, label %other_value
other_value:
  %is_string = icmp eq i8 %byte, 2
  br i1 %is_string, label %put_string, label %put_type
put_number:
  call void @resid.refuse_put_number(ptr %line, i64 %value)
  br label %put_value
put_string:
  %string = inttoptr i64 %value to ptr
  call void @resid.refuse_put_string(ptr %line, ptr %string)
  br label %put_value
put_type:
  call void @resid.refuse_put_type(ptr %line, i64 %value)
  br label %put_value
put_value:
  br label %next
done:
  ret void
}

; Hands two texts as one line to the log, where there is one, and answers the status: the low 8 bits of %code.
define i32 @resid.refuse(ptr %ctx, i32 %code, ptr %where, ptr %text, ptr %values) {
entry:
  %line = alloca %Line
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
  br i1 %no_log, label %leave, label %write
write:
  store i64 0, ptr %line
  call void @resid.refuse_put_text(ptr %line, ptr %where, ptr %values)
  call void @resid.refuse_put_text(ptr %line, ptr %text, ptr %values)
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
