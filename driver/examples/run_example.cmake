# SPDX-License-Identifier: Apache-2.0
# cmake -DWEFT=weft -DELF=... -DARRAY=... -DISA=... -DEXPECTED="PASS name" [-DEXIT=code] [-DENGINE=ref]
#       -P run_example.cmake
# Runs a program on the reference engine or another one. Both the exit code and the text must be right: a program that ends early with code 0
# or fails after its verdict does not pass.
if(NOT DEFINED EXIT)
  set(EXIT 0)
endif()
if(NOT DEFINED ENGINE)
  set(ENGINE ref)
endif()
execute_process(COMMAND ${WEFT} sim --engine ${ENGINE} --quiet --array ${ARRAY} --isa ${ISA} ${ELF}
                RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE messages)
string(FIND "${text}" "${EXPECTED}" found)
if(NOT code EQUAL ${EXIT} OR found EQUAL -1)
  message(FATAL_ERROR "exit code ${code}, wanted ${EXIT} and \"${EXPECTED}\"\n${text}${messages}")
endif()
message("${text}")
