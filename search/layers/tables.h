// The files of workloads/layers as text; the table is made in the build.
#ifndef SEARCH_LAYERS_TABLES_H
#define SEARCH_LAYERS_TABLES_H

#include <stddef.h>

typedef struct layers_table_file {
  const char *name;  // "resnet50"
  const char *text;
} layers_table_file;

extern const layers_table_file layers_table_files[];
extern const size_t layers_table_file_count;

#endif
