#!/usr/bin/env bash
# Builds operators of others from their Go modules, unmodified, and tests them on embedded clusters.
#   operators.sh [PYTEST ARGUMENT...]
#   operators.sh build       no more than build them, and say into which folder
# The first time some minutes on 2 cores; nothing is built where the cache has these versions already.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
operators=$(dirname "$cache")/operators

# obtain NAME MODULE@VERSION PACKAGE: the program, and beside it a link to the module's source, with its CRDs and samples.
obtain() {
  local source to=$operators/$1
  source=$(go mod download -json "$2" | jq -r .Dir)
  [[ $(readlink "$to/source") != "$source" ]] || return 0
  say "building $2: some minutes"
  rm -rf "$to"; mkdir -p "$to"
  # Within the module itself, so that it gets the dependencies of its own go.mod and go.sum.
  CGO_ENABLED=0 quietly nice go build -C "$source" -trimpath -ldflags "-s -w" -o "$to/program" "$3"
  ln -s "$source" "$to/source"
}

need go jq
obtain training-operator "github.com/kubeflow/training-operator@$TRAINING_OPERATOR" ./cmd/training-operator.v1
obtain mpi-operator "github.com/kubeflow/mpi-operator@$MPI_OPERATOR" ./cmd/mpi-operator
obtain kuberay "github.com/ray-project/kuberay/ray-operator@$KUBERAY" .
obtain kueue "sigs.k8s.io/kueue@$KUEUE" ./cmd/kueue
if [[ ${1:-} == build ]]; then echo "$operators"; exit; fi

command -v kubectl >/dev/null || "$here/programs.sh"
cd "$repository"
GPUYARD_OPERATORS=$operators .venv/bin/pytest -q tests/e2e/operators "$@"
