// SPDX-License-Identifier: Apache-2.0
// Layers of networks, as other files of libweft see them.
#ifndef API_LAYERS_H
#define API_LAYERS_H

#include "api/private.h"
#include "search/layers/layers.h"

struct weft_layers {
  layers_network network;
};

#endif
