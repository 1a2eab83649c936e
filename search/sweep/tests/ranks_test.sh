#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Four ranks give the store that one process gives, also when one of them is killed.
. "$(dirname "$0")/common.sh"
write_sweep
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# If so told, a rank dies when it has begun to work: when it has a child.
cat >rank.sh <<'END_OF_RANK'
#!/bin/sh
if [ "${KILL_RANK:-}" = "$OMPI_COMM_WORLD_RANK" ]; then
  (while kill -0 $$ 2>/dev/null; do
    ! pgrep -P $$ -x weft >/dev/null || kill -9 $$
    sleep 0.02
  done) >/dev/null 2>&1 &
fi
exec "$@"
END_OF_RANK
chmod +x rank.sh

"$weft" sweep sweep.yaml -o one.sqlite --quiet
findings one.sqlite >one.txt
mpirun --oversubscribe -np 4 "$weft" sweep sweep.yaml -o four.sqlite --quiet --json four.json
findings four.sqlite >four.txt
cmp one.txt four.txt || fail "four ranks have another store"

KILL_RANK=2 mpirun --oversubscribe --enable-recovery -np 4 ./rank.sh \
  "$weft" sweep sweep.yaml -o killed.sqlite --quiet || echo "mpirun ended with $?"
"$weft" sweep sweep.yaml -o killed.sqlite --quiet --json again.json
grep -q '"measured_now":	0' again.json || fail "the other ranks left work undone: $(cat again.json)"
findings killed.sqlite >killed.txt
cmp one.txt killed.txt || fail "with a killed rank the store is another"
echo "4 ranks: the same store"
