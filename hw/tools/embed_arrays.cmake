# SPDX-License-Identifier: Apache-2.0
# Writes a C file that holds the built-in array descriptions, in the order given.
#   cmake -DDIR=hw/configs -DNAMES=gemmini-default,dim4 -DOUT=file.c -P embed_arrays.cmake
string(REPLACE "," ";" names "${NAMES}")
set(body "")
foreach(name IN LISTS names)
  file(READ "${DIR}/${name}.yaml" text)
  foreach(special "\\" "\"")
    string(REPLACE "${special}" "\\${special}" text "${text}")
  endforeach()
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND body "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE "${OUT}" "// Made from hw/configs by hw/tools/embed_arrays.cmake.
#include \"hw/array_builtin.h\"

const hw_builtin hw_builtins[] = {
${body}};
const size_t hw_builtin_count = sizeof hw_builtins / sizeof *hw_builtins;
")
