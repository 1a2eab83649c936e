# SPDX-License-Identifier: Apache-2.0
# Renders the documents as pages with search: cmake -DSOURCE=.. -DOUT=.. -P docs/site.cmake
# The sections are those of docs/README.md. Links that lead nowhere end it.
find_program(mkdocs mkdocs)
if(NOT mkdocs)
  message(FATAL_ERROR "mkdocs is missing: apt-get install mkdocs")
endif()

# The pages lie as in the source tree, so that links between them hold.
set(pages ${OUT}/pages)
file(REMOVE_RECURSE ${pages})
file(MAKE_DIRECTORY ${pages})
foreach(part docs results workloads/gemmini-rtl workloads/spaces workloads/studies workloads/sweeps compiler/unread.def
             sim/cycle/skip/skip.def
             README.md CHANGELOG.md CONTRIBUTING.md LICENSE)
  get_filename_component(folder ${pages}/${part} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${SOURCE}/${part} ${pages}/${part} SYMBOLIC)
endforeach()

set(nav "  - Weft: README.md\n  - All documents: docs/README.md\n")
file(STRINGS ${SOURCE}/docs/README.md lines)
foreach(line IN LISTS lines)
  if(line MATCHES "^## (.*)")
    string(APPEND nav "  - ${CMAKE_MATCH_1}:\n")
  elseif(line MATCHES "^\\| *\\[[a-z-]+\\.md\\]")
    string(REGEX MATCHALL "\\([a-z-]+\\.md\\)" names "${line}")
    foreach(name IN LISTS names)
      string(REGEX REPLACE "[()]" "" name "${name}")
      string(APPEND nav "    - docs/${name}\n")
    endforeach()
  endif()
endforeach()
string(APPEND nav "  - Changes: CHANGELOG.md\n  - Contributing: CONTRIBUTING.md\n")

file(WRITE ${OUT}/mkdocs.yml
     "site_name: Weft\nsite_url: ''\nuse_directory_urls: false\ndocs_dir: pages\nsite_dir: html\n"
     "theme: {name: readthedocs, highlightjs: false}\nplugins: [search]\nnav:\n${nav}")
execute_process(COMMAND ${mkdocs} build --quiet --strict --config-file ${OUT}/mkdocs.yml RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "mkdocs: ${failed}")
endif()
message(STATUS "${OUT}/html/index.html")
