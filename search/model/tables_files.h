// SPDX-License-Identifier: Apache-2.0
// The files of search/model/tables as text; the table is made in the build.
#ifndef SEARCH_MODEL_TABLES_FILES_H
#define SEARCH_MODEL_TABLES_FILES_H

#include "base/text_file.h"

extern const wf_text_file search_tables_files[];
extern const size_t search_tables_file_count;

#endif
