// SPDX-License-Identifier: Apache-2.0
// A JSON document as CSV: a row per value, so that the rows of many runs can be put together.
#ifndef API_CSV_H
#define API_CSV_H

#include <cjson/cJSON.h>
#include <stdio.h>

// Columns file, array, engine (those values of the document, in every row), key and value. The key of a value in an
// object is the keys that lead to it, with dots between them.
void api_csv_print(const cJSON *document, FILE *out);

#endif
