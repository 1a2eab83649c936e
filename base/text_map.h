// SPDX-License-Identifier: Apache-2.0
// A map from texts to places: the n-th text that was new has place n.
#ifndef BASE_TEXT_MAP_H
#define BASE_TEXT_MAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wf_text_map {
  struct wf_text_slot *slots;
  size_t room, count;
} wf_text_map;

// The place of a text; a new one gets the next. The text must outlive the map.
size_t wf_text_map_add(wf_text_map *map, const char *text);
// False: it is not there.
bool wf_text_map_find(const wf_text_map *map, const char *text, size_t *place);
void wf_text_map_release(wf_text_map *map);

#endif
