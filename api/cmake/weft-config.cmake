# SPDX-License-Identifier: Apache-2.0
# find_package(weft) gives the target weft::weft.
include(${CMAKE_CURRENT_LIST_DIR}/weft-targets.cmake)
