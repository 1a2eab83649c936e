// SPDX-License-Identifier: Apache-2.0
// The text of shipped.trees, which the build puts into the program.
#ifndef SEARCH_LEARN_SHIPPED_H
#define SEARCH_LEARN_SHIPPED_H

extern const char learn_shipped_text[];

#endif
