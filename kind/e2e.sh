#!/usr/bin/env bash
# Examples and cases on a real cluster of its own: makes what is missing, deploys, tests, removes.   e2e.sh [PYTEST ARGUMENT...]
# CLUSTER names another cluster; KEEP=1 keeps it (and a Docker daemon started here) for the next run, which then starts in seconds.
# Its kubeconfig is its own: yours is never touched. Where a run fails, dist/e2e-logs has what all parts said.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
name=${CLUSTER:-gpuyard-e2e}
cd "$repository"
mkdir -p "$cache"
export KUBECONFIG=$cache/$name.kubeconfig GPUYARD_E2E_KUBECONFIG=$cache/$name.kubeconfig GPUYARD_E2E_CLUSTER=$name

finish() {
  local code=$?
  trap - EXIT
  (( code == 0 )) || collect || true
  if [[ -n ${KEEP:-} ]]; then
    say "kept: export KUBECONFIG=$KUBECONFIG"
  else
    kind delete cluster --name "$name" --kubeconfig "$KUBECONFIG" >/dev/null 2>&1 || true
    "$here/docker.sh" stop
  fi
  exit "$code"
}

collect() {
  kubectl get nodes >/dev/null 2>&1 || return 0 # there is no cluster yet that could say anything
  local logs=$repository/dist/e2e-logs
  rm -rf "$logs"; mkdir -p "$logs"
  local kinds=nodes,pods,podgroups,reservations,deployments,daemonsets,configmaps,leases,endpointslices
  kubectl get "$kinds" --all-namespaces --output yaml > "$logs/objects.yaml"
  kubectl get events --all-namespaces --sort-by .lastTimestamp > "$logs/events.txt"
  local pod
  for pod in $(kubectl -n gpuyard-system get pods --output name); do
    kubectl -n gpuyard-system logs "$pod" > "$logs/${pod#pod/}.log" 2>&1
    kubectl -n gpuyard-system logs --previous "$pod" > "$logs/${pod#pod/}.previous.log" 2>/dev/null || rm -f "$logs/${pod#pod/}.previous.log"
  done
  kubectl -n kube-system logs --selector component=kube-scheduler --tail -1 > "$logs/kube-scheduler.log"
  for node in $(kind get nodes --name "$name" 2>/dev/null); do
    docker exec "$node" journalctl --no-pager --unit kubelet > "$logs/kubelet-$node.log"
  done
  say "what all parts said is in $logs"
}

# Whether kindest/node can be had, and run: our own image is for machines where one of both is not so.
stock() { raises_limits && { docker image inspect "$STOCK_NODE" || docker pull -q "$STOCK_NODE"; } >/dev/null 2>&1; }

create() {
  local config image=$STOCK_NODE; config=$(mktemp)
  cp kind-config.yaml "$config"
  if ! stock; then image=$OWN_NODE; "$here/node-image.sh"; cat "$here/hermetic.yaml" >> "$config"; fi
  say "creating the cluster $name from $image"
  quietly kind create cluster --name "$name" --kubeconfig "$KUBECONFIG" --config "$config" --image "$image"
  rm -f "$config"
  if [[ $image == "$OWN_NODE" ]]; then
    "$here/network.sh" "$name"
    kubectl -n kube-system scale deployment coredns --replicas=0 >/dev/null # there is no image of it, and no need
  fi
  kubectl wait nodes --all --for=condition=Ready --timeout=120s >/dev/null
}

deploy() {
  "$here/images.sh" build
  quietly "$here/images.sh" load "$name"
  quietly kubectl apply --kustomize manifests/
  local parts=(deployment/gpuyard-extender deployment/gpuyard-operator daemonset/gpuyard-device-plugin)
  # The tag is the same for each build: what runs already would go on with the old image.
  [[ $1 == fresh ]] || kubectl -n gpuyard-system rollout restart "${parts[@]}" >/dev/null
  # The device plugins start anew with each example, and each waits for them.
  for part in "${parts[@]:0:2}"; do kubectl -n gpuyard-system rollout status "$part" --timeout=120s >/dev/null; done
}

need docker
trap finish EXIT
"$here/docker.sh" start
# kind and kubectl are needed in any case; released ones will do where the node image is the released one.
{ command -v kind && command -v kubectl && stock; } >/dev/null || "$here/programs.sh"
if kubectl get nodes >/dev/null 2>&1; then
  deploy again
else
  kind delete cluster --name "$name" --kubeconfig "$KUBECONFIG" >/dev/null 2>&1 || true
  create
  deploy fresh
fi
# Where the nodes reach this machine, for an extender that runs here. A Docker daemon in a virtual machine has no such place.
gateway=$(docker network inspect kind --format '{{range .IPAM.Config}}{{.Gateway}} {{end}}' | grep -oE '([0-9]+\.){3}[0-9]+' | head -n 1)
if [[ $(ip address show 2>/dev/null) == *"inet $gateway/"* ]]; then export GPUYARD_E2E_HOST=$gateway; fi
if command -v go >/dev/null; then
  GPUYARD_OPERATORS=$("$here/operators.sh" build)
  export GPUYARD_OPERATORS
fi
GPUYARD_CLIENT_GO=1 .venv/bin/pytest -q tests/e2e/kind tests/e2e/clients/test_client_go.py tests/e2e/operators "$@"
