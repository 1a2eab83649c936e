#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A SLURM of two nodes on this machine: mpirun inside of an allocation gives the store that one process gives, with ranks
# on both nodes. Exit code 77: there is no SLURM, or no right to start one.
. "$(dirname "$0")/common.sh"
for tool in slurmctld slurmd munged srun salloc; do
  command -v $tool >/dev/null || { echo "no $tool: apt-get install slurm-wlm munge"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "only root can start a SLURM"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Ports that nobody listens at, by the number of this process.
base=$((20000 + $$ % 10000 * 4))
host=$(hostname -s)
mkdir -p state munge spool.n1 spool.n2
sockets=$(mktemp -d)  # a socket's path is short
mkdir "$sockets/n1" "$sockets/n2"
chmod 755 "$work"
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 700 munge && chmod 600 munge/key
cat >slurm.conf <<END
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$sockets/munge
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
TmpFS=$sockets/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=2 State=UNKNOWN
PartitionName=both Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$work/slurm.conf"

daemons=
# A step that still tells the controller of its end would wait for it for ever.
stop() {
  steps=
  for daemon in $daemons; do steps="$steps $(pgrep -P "$daemon" -x slurmstepd || true)"; done
  # shellcheck disable=SC2086
  kill $daemons 2>/dev/null || true
  wait 2>/dev/null || true
  # shellcheck disable=SC2086
  kill -9 $steps 2>/dev/null || true
  rm -rf "$sockets"
}
trap stop EXIT
start() {
  log=$1
  shift
  "$@" >"$log" 2>&1 &
  daemons="$daemons $!"
}
start munged.log munged --foreground --force --key-file="$work/munge/key" --socket="$sockets/munge" --pid-file="$work/munged.pid" \
  --log-file="$work/munge/log" --seed-file="$work/munge/seed"
for _ in $(seq 200); do [ ! -S "$sockets/munge" ] || break; sleep 0.1; done
start ctld.out slurmctld -D -f "$SLURM_CONF"
start n1.out slurmd -D -N n1 -f "$SLURM_CONF"
start n2.out slurmd -D -N n2 -f "$SLURM_CONF"
for _ in $(seq 600); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" != 2 ] || break
  sleep 0.2
done
[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] || fail "no two nodes: $(sinfo 2>&1; tail -n 3 slurmctld.log ./*.out munge/log 2>&1)"

"$weft" sweep "$sources/tiny_sweep.yaml" -o one.sqlite --quiet
findings one.sqlite >one.txt
srun --mpi=none -N 2 -n 4 sh -c 'echo $SLURMD_NODENAME' | sort | uniq -c >nodes.txt
[ "$(grep -c 2 nodes.txt)" = 2 ] || fail "not two ranks on each node: $(cat nodes.txt)"
# Not by shared memory: the nodes are one machine, and MPI does not expect that of two.
salloc -Q -N 2 -n 4 mpirun --mca btl self,tcp "$weft" sweep "$sources/tiny_sweep.yaml" -o four.sqlite --quiet ||
  fail "mpirun ended with $?: $(tail -n 5 slurmctld.log)"
for _ in $(seq 300); do
  [ -n "$(squeue -h -s -o %i 2>/dev/null)" ] || [ "$(sinfo -h -t idle -o %D)" != 2 ] || break
  sleep 0.1
done
findings four.sqlite >four.txt
cmp one.txt four.txt || fail "four ranks on two nodes have another store"
# Without mpirun, on one node: SLURM's PMIx takes two nodes of one machine for one.
if srun --mpi=list 2>&1 | grep -q pmix; then
  srun --mpi=pmix -N 1 -n 2 "$weft" sweep "$sources/tiny_sweep.yaml" -o two.sqlite --quiet || fail "srun ended with $?: $(tail -n 5 slurmctld.log)"
  findings two.sqlite >two.txt
  cmp one.txt two.txt || fail "two ranks by srun have another store"
  echo "1 node, 2 ranks by srun: the same store"
fi
echo "2 nodes, 4 ranks: the same store"
