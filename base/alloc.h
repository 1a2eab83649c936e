// SPDX-License-Identifier: Apache-2.0
// The checked allocator: it returns memory or ends the process with exit code WF_EXIT_NO_MEMORY.
// Sizes of arrays are given as count and element size; their product is checked.
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

enum { WF_EXIT_NO_MEMORY = 70 };

void *wf_alloc(size_t count, size_t size);   // uninitialised
void *wf_calloc(size_t count, size_t size);  // zeroed
void *wf_realloc(void *old, size_t count, size_t size);
char *wf_strdup(const char *text);
char *wf_format(const char *format, ...) __attribute__((format(printf, 1, 2)));  // a string to free
void wf_free(void *memory);

#define WF_NEW(type) ((type *)wf_calloc(1, sizeof(type)))
#define WF_NEW_ARRAY(count, type) ((type *)wf_calloc((count), sizeof(type)))

#endif
