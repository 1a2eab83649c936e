# SPDX-License-Identifier: Apache-2.0
# Writes a C file that holds files as arrays of bytes, named by their file names without ending.
#   cmake -DFILES=a.elf,b.elf -DTYPE=bench_gemmini_elf -DHEADER=bench/gemmini_elfs.h -DOUT=file.c -P embed_bytes.cmake
# The table is `const <TYPE> <TYPE>s[]` of {name, bytes, size}, with <TYPE>_count entries.
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(rows "")
foreach(file IN LISTS files)
  file(READ "${file}" bytes HEX)
  get_filename_component(name "${file}" NAME_WE)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char bytes_${name}[] = {\n${bytes}};\n")
  string(APPEND rows "    {\"${name}\", bytes_${name}, sizeof bytes_${name}},\n")
endforeach()
file(WRITE "${OUT}" "// Made by base/tools/embed_bytes.cmake.
#include \"${HEADER}\"

${arrays}
const ${TYPE} ${TYPE}s[] = {
${rows}};
const size_t ${TYPE}_count = sizeof ${TYPE}s / sizeof *${TYPE}s;
")
