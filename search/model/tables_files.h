// The files of search/model/tables as text; the table is made in the build.
#ifndef SEARCH_MODEL_TABLES_FILES_H
#define SEARCH_MODEL_TABLES_FILES_H

#include <stddef.h>

typedef struct search_tables_file {
  const char *name;  // "dosa.yaml"
  const char *text;
} search_tables_file;

extern const search_tables_file search_tables_files[];
extern const size_t search_tables_file_count;

#endif
