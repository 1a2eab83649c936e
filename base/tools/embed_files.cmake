# SPDX-License-Identifier: Apache-2.0
# Writes a C file that holds text files as strings, named by their file names.
#   cmake -DFILES=a.sv,b.sv -DTABLE=hw_rtl -DHEADER=hw/rtl_files.h -DOUT=file.c -P embed_files.cmake
# With -DSTEMS=ON names have no ending. The table is `const wf_text_file <TABLE>_files[]` with <TABLE>_file_count entries.
string(REPLACE "," ";" files "${FILES}")
set(body "")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  if(STEMS)
    get_filename_component(name "${file}" NAME_WE)
  else()
    get_filename_component(name "${file}" NAME)
  endif()
  foreach(special "\\" "\"")
    string(REPLACE "${special}" "\\${special}" text "${text}")
  endforeach()
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND body "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE "${OUT}" "// Made by base/tools/embed_files.cmake.
#include \"${HEADER}\"

const wf_text_file ${TABLE}_files[] = {
${body}};
const size_t ${TABLE}_file_count = sizeof ${TABLE}_files / sizeof *${TABLE}_files;
")
