# What the scripts of this folder share: versions, places, and how to find programs. Sourced, never run.
# shellcheck shell=bash disable=SC2034
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(dirname "$here")

KUBERNETES=1.36.3 KIND=v0.33.0 ETCD=v3.6.16 CONTAINERD=v2.2.9 RUNC=v1.3.7 CNI=v1.9.1 CRICTL=v1.37.0
# Operators of others, which are tested unmodified.
TRAINING_OPERATOR=v1.8.1 MPI_OPERATOR=v0.7.0 KUBERAY=v1.5.0 KUEUE=v0.17.0
# What kubeadm and containerd's configuration ask for by name; the content is made here.
ETCD_IMAGE=3.6.8-0 PAUSE_IMAGE=3.10.2
versions="kubernetes $KUBERNETES kind $KIND etcd $ETCD containerd $CONTAINERD runc $RUNC cni $CNI crictl $CRICTL"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpuyard/kind
programs=$cache/bin
STOCK_NODE=kindest/node:v$KUBERNETES
OWN_NODE=gpuyard/node:v$KUBERNETES

# Our own builds go before what the machine has: kubectl must not be older than the cluster by two minor versions.
PATH=$programs:$PATH:/usr/sbin:/sbin

say() { echo "kind: $*" >&2; }
die() { say "$*"; exit 1; }
# Runs a command of whose words nobody needs any unless it fails.
quietly() {
  local words; words=$(mktemp)
  "$@" >"$words" 2>&1 || { tail -n 30 "$words" >&2; rm -f "$words"; die "failed: $*"; }
  rm -f "$words"
}
need() { for program in "$@"; do command -v "$program" >/dev/null || die "$program is needed: install it; on Debian kind/packages.sh installs all but Go"; done; }

# Whether this machine may raise resource limits (CAP_SYS_RESOURCE is bit 24). Containers in containers often may not.
raises_limits() { (( 0x$(sed -n 's/^CapBnd:\s*//p' /proc/self/status) >> 24 & 1 )); }

# A docker client without buildx still has the classic builder; our Dockerfile works with both.
docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0
