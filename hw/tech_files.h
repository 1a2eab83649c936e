// The files of hw/tech as text; the table is made in the build.
#ifndef HW_TECH_FILES_H
#define HW_TECH_FILES_H

#include <stddef.h>

typedef struct hw_tech_file {
  const char *name;  // "40nm.yaml"
  const char *text;
} hw_tech_file;

extern const hw_tech_file hw_tech_files[];
extern const size_t hw_tech_file_count;

#endif
