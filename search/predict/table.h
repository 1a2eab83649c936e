// SPDX-License-Identifier: Apache-2.0
// Predictions of many layers at once, on several threads; what was asked once is known.
#ifndef SEARCH_PREDICT_TABLE_H
#define SEARCH_PREDICT_TABLE_H

#include "search/predict/predict.h"

typedef struct predict_table predict_table;

// `threads` 0: one per processor. `learned`: cycles of the model are corrected by the shipped trees (search/learn).
predict_table *predict_table_create(unsigned threads, bool learned);
void predict_table_destroy(predict_table *t);

// The answer to each request; they stay until the table is destroyed.
void predict_table_ask(predict_table *t, const predict_request *requests, size_t count, const predict_result **answers);

#endif
