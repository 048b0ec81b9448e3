# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# complete.sh FOLDER TOOL WORD...: what the completion of TOOL in FOLDER offers for the last word, one per line. The words
# are those that bash makes, where '=' is a word.
source "$1/$2"
compopt() { :; } # there is no line that is edited
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
function_name=$(complete -p "$2" | sed 's/.*-F \([^ ]*\) .*/\1/')
"$function_name" "$2"
printf '<%s>\n' "${COMPREPLY[@]}"
