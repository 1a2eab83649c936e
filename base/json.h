// SPDX-License-Identifier: Apache-2.0
// JSON documents: numbers to the last digit, names of any bytes.
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

void wf_json_hash(cJSON *object, const char *key, uint64_t hash);
// Whole numbers, to the last digit: a double has 53 bits.
void wf_json_integer(cJSON *object, const char *key, int64_t value);
void wf_json_count(cJSON *object, const char *key, uint64_t value);

// Writes and frees a document, with a line's end. Names in it that are no UTF-8 are written so that it is.
void wf_json_write(cJSON *document, FILE *out);

#endif
