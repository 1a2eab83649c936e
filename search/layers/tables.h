// SPDX-License-Identifier: Apache-2.0
// The files of workloads/layers as text; the table is made in the build.
#ifndef SEARCH_LAYERS_TABLES_H
#define SEARCH_LAYERS_TABLES_H

#include "base/text_file.h"

extern const wf_text_file layers_table_files[];
extern const size_t layers_table_file_count;

#endif
