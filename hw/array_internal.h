// SPDX-License-Identifier: Apache-2.0
// What the files of the array description share: parameter numbers and the places where a YAML file gives them.
#ifndef HW_ARRAY_INTERNAL_H
#define HW_ARRAY_INTERNAL_H

#include "hw/array.h"

// HW_P_scratchpad_banks and so on: the index of a parameter in the table.
enum hw_param_id {
#define SECTION(section, doc)
#define END(section)
#define U32(section, field, ...) HW_P_##section##_##field,
#define POW2(section, field, ...) HW_P_##section##_##field,
#define ENUM(section, field, ...) HW_P_##section##_##field,
#define FLAG(section, field, ...) HW_P_##section##_##field,
#include "hw/array_params.def"
#undef SECTION
#undef END
#undef U32
#undef POW2
#undef ENUM
#undef FLAG
  HW_PARAM_COUNT
};

// HW_S_scratchpad and so on: the index of a section.
enum hw_section_id {
#define SECTION(section, doc) HW_S_##section,
#define END(section)
#define U32(...)
#define POW2(...)
#define ENUM(...)
#define FLAG(...)
#include "hw/array_params.def"
#undef SECTION
#undef END
#undef U32
#undef POW2
#undef ENUM
#undef FLAG
  HW_SECTION_COUNT
};

typedef struct hw_section {
  const char *name;
  const char *doc;
} hw_section;

// The sections in table order; NULL past the end.
const hw_section *hw_section_at(size_t index);

// Where a file states each parameter; line 0: it does not, the value is the default.
typedef struct hw_positions {
  wf_location of[HW_PARAM_COUNT];
} hw_positions;

// hw_array_check that points at the value in the file where there is one. Positions may be NULL.
bool hw_array_check_at(const hw_array *array, const char *file, const hw_positions *positions, wf_diag *diag);

// hw_array_parse for a file that may lack a name: it then gets this one.
bool hw_array_parse_named(hw_array *array, const char *default_name, const char *file, const char *text, size_t length,
                          wf_diag *diag);

// Larger texts are refused: no description comes near it.
enum { HW_TEXT_MAX = 64 * 1024 };

#endif
