# SPDX-License-Identifier: Apache-2.0
# The bench ends with 4, and says why, when the errors exceed a limit.
#   cmake -DWEFT=weft -P limit.cmake
execute_process(
  COMMAND ${WEFT} bench gemmini --quiet --group config --max-warm 0.001
  RESULT_VARIABLE code
  ERROR_VARIABLE said
  OUTPUT_QUIET)
if(NOT code EQUAL 4 OR NOT said MATCHES "exceeds --max-warm 0.001")
  message(FATAL_ERROR "ended with ${code} and said: ${said}")
endif()
