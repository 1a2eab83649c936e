#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cycles of whole networks on engine flow are those of engine cycle within 0.5 % in their sum, and nine tenths of
# their steps come in the same order.
# Usage: flow_networks.sh WEFT NETWORK...
set -eu
weft=$1
shift
for network; do
  "$weft" bench flow --net "$network" --quiet --csv - | awk -F, -v network="$network" '
    function off(x) { return x < 0 ? -x : x }
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    $column["name"] == network && NR > 1 {
      rows++
      error = $column["flow_cycles"] / $column["cycles"] * 100 - 100
      print network ": " $column["runs"] " steps, " error " % off in the sum, ranks " $column["rank_correlation"]
      if (off(error) > 0.5 || $column["rank_correlation"] < 0.9 || $column["runs"] < 10) bad = 1
    }
    END { exit bad || rows != 1 }'
done
