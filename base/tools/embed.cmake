# SPDX-License-Identifier: Apache-2.0
# Files that travel in the program.
set(WEFT_EMBED_TOOLS ${CMAKE_CURRENT_LIST_DIR})

# weft_embed_files(SOURCE TABLE HEADER [STEMS] FILES...): sets SOURCE to a C file, made in the build, with TABLE_files and
# TABLE_file_count as HEADER declares them. With STEMS the names have no ending.
function(weft_embed_files source table header)
  cmake_parse_arguments(ARG "STEMS" "" "" ${ARGN})
  list(JOIN ARG_UNPARSED_ARGUMENTS "," names)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${table}_files.c)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFILES=${names} -DTABLE=${table} -DHEADER=${header} -DOUT=${out} -DSTEMS=${ARG_STEMS} -P
            ${WEFT_EMBED_TOOLS}/embed_files.cmake
    DEPENDS ${ARG_UNPARSED_ARGUMENTS} ${WEFT_EMBED_TOOLS}/embed_files.cmake
    VERBATIM)
  set(${source} ${out} PARENT_SCOPE)
endfunction()

# weft_embed_text(SOURCE NAME HEADER FILE): sets SOURCE to a C file, made in the build, with the file as the string NAME.
function(weft_embed_text source name header file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DNAME=${name} -DHEADER=${header} -DOUT=${out} -P
            ${WEFT_EMBED_TOOLS}/embed_text.cmake
    DEPENDS ${file} ${WEFT_EMBED_TOOLS}/embed_text.cmake
    VERBATIM)
  set(${source} ${out} PARENT_SCOPE)
endfunction()

# weft_embed_bytes(SOURCE TYPE HEADER FILES...): sets SOURCE to a C file, made in the build, with TYPEs and TYPE_count as HEADER
# declares them: names without ending, bytes, sizes.
function(weft_embed_bytes source type header)
  list(JOIN ARGN "," names)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${type}s.c)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFILES=${names} -DTYPE=${type} -DHEADER=${header} -DOUT=${out} -P
            ${WEFT_EMBED_TOOLS}/embed_bytes.cmake
    DEPENDS ${ARGN} ${WEFT_EMBED_TOOLS}/embed_bytes.cmake
    VERBATIM)
  set(${source} ${out} PARENT_SCOPE)
endfunction()
