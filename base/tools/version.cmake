# SPDX-License-Identifier: Apache-2.0
# Writes a C header with the version of the checkout: the commit, with a + if files differ from it.
#   cmake -DDIR=checkout -DOUT=weft_version.h -P version.cmake
# The file is written only when it changes, so a build without a new commit compiles nothing.
set(version "unknown")
execute_process(COMMAND git -C ${DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT failed)
  execute_process(COMMAND git -C ${DIR} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  set(version "${commit}")
  if(changes)
    set(version "${commit}+")
  endif()
endif()
set(text "// Made by base/tools/version.cmake.\n#define WEFT_GIT_VERSION \"${version}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
