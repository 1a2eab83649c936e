# SPDX-License-Identifier: Apache-2.0
# Writes a C file that holds one text file as a string.
#   cmake -DFILE=schema.sql -DNAME=the_schema -DHEADER=path/schema.h -DOUT=file.c -P embed_text.cmake
file(READ "${FILE}" text)
foreach(special "\\" "\"")
  string(REPLACE "${special}" "\\${special}" text "${text}")
endforeach()
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUT}" "// Made by base/tools/embed_text.cmake.
#include \"${HEADER}\"

const char ${NAME}[] =
    \"${text}\";
")
