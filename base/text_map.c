// SPDX-License-Identifier: Apache-2.0
// A map from texts to places, with open addressing: see text_map.h. At most half of the slots are taken.
#include "base/text_map.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { ROOM_FIRST = 64 };

struct wf_text_slot {
  const char *text;  // NULL: free
  uint64_t hash;
  size_t place;
};

static struct wf_text_slot *slot_of(const wf_text_map *map, const char *text, uint64_t hash) {
  size_t at = (size_t)(hash ^ hash >> 32) & (map->room - 1);
  while (map->slots[at].text != NULL && (map->slots[at].hash != hash || strcmp(map->slots[at].text, text) != 0))
    at = (at + 1) & (map->room - 1);
  return &map->slots[at];
}

static void grow(wf_text_map *map) {
  const wf_text_map old = *map;
  map->room = old.room == 0 ? ROOM_FIRST : 2 * old.room;
  map->slots = wf_calloc(map->room, sizeof *map->slots);
  for (size_t i = 0; i < old.room; i++)
    if (old.slots[i].text != NULL) *slot_of(map, old.slots[i].text, old.slots[i].hash) = old.slots[i];
  wf_free(old.slots);
}

size_t wf_text_map_add(wf_text_map *map, const char *text) {
  if (2 * map->count >= map->room) grow(map);
  const uint64_t hash = wf_hash(WF_HASH_START, text, strlen(text));
  struct wf_text_slot *slot = slot_of(map, text, hash);
  if (slot->text == NULL) *slot = (struct wf_text_slot){.text = text, .hash = hash, .place = map->count++};
  return slot->place;
}

bool wf_text_map_find(const wf_text_map *map, const char *text, size_t *place) {
  if (map->count == 0) return false;
  const struct wf_text_slot *slot = slot_of(map, text, wf_hash(WF_HASH_START, text, strlen(text)));
  if (slot->text == NULL) return false;
  *place = slot->place;
  return true;
}

void wf_text_map_release(wf_text_map *map) {
  wf_free(map->slots);
  *map = (wf_text_map){0};
}
