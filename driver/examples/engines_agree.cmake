# SPDX-License-Identifier: Apache-2.0
# cmake -DWEFT=weft -DELF=... -DARRAY=... -DISA=... -DEXPECTED="PASS name" -P engines_agree.cmake
# Runs a program on the cycle engine, on the RTL, and on the SystemC platform with either inside. Each must end with code 0 and
# the expected text, and all with the same cycles, instructions and console output.
set(engines "cycle" "rtl" "systemc --accelerator c" "systemc --accelerator rtl")
set(reference)
foreach(engine ${engines})
  separate_arguments(arguments UNIX_COMMAND "${engine}")
  execute_process(COMMAND ${WEFT} sim --engine ${arguments} --quiet --array ${ARRAY} --isa ${ISA} --json result.json ${ELF}
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE messages)
  string(FIND "${text}" "${EXPECTED}" found)
  if(NOT code EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "${engine}: exit code ${code}, wanted 0 and \"${EXPECTED}\"\n${text}${messages}")
  endif()
  file(READ result.json result)
  string(JSON cycles GET "${result}" cycles)
  string(JSON instructions GET "${result}" instructions)
  message("${engine}: ${cycles} cycles, ${instructions} instructions")
  set(outcome "${cycles} ${instructions} ${text}")
  if(reference AND NOT outcome STREQUAL reference)
    message(FATAL_ERROR "${engine} differs from cycle:\n${outcome}\n---\n${reference}")
  endif()
  set(reference "${outcome}")
endforeach()
