// SPDX-License-Identifier: Apache-2.0
// JSON documents that the library hands out.
#ifndef API_JSON_H
#define API_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

void api_json_hash(cJSON *object, const char *key, uint64_t hash);
// Whole numbers, to the last digit: a double has 53 bits.
void api_json_integer(cJSON *object, const char *key, int64_t value);
void api_json_count(cJSON *object, const char *key, uint64_t value);

// Writes and frees a document, with a line's end. Names in it that are no UTF-8 are written so that it is.
void api_json_write(cJSON *document, FILE *out);

#endif
