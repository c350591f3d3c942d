#!/usr/bin/env bash
# The pod network of a cluster made with our own node image: each node's pods on a bridge of their own, and a route to
# the pods of every other node. A cluster of kindest/node has a network of its own, and is left alone.
#   network.sh NAME    (again after a node has started anew: routes do not outlive it, and it may have got another range)
set -euo pipefail
source "$(dirname "$0")/environment.sh"
[[ $(docker inspect --format '{{.Config.Image}}' "${1:?name the kind cluster}-control-plane") == "$OWN_NODE" ]] || exit 0
nodes=$(kubectl get nodes --output jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}')

while read -r node pods _; do
  routes=''
  while read -r other others address; do
    [[ $other == "$node" ]] || routes+="ip route replace $others via $address; "
  done <<<"$nodes"
  jq -n --arg pods "$pods" '{cniVersion: "1.0.0", name: "pods", plugins: [
    {type: "ptp", mtu: 1500, ipam: {type: "host-local", dataDir: "/run/cni-ipam-state",
      routes: [{dst: "0.0.0.0/0"}], ranges: [[{subnet: $pods}]]}},
    {type: "portmap", capabilities: {portMappings: true}}]}' |
    docker exec -i "$node" sh -ec "mkdir -p /etc/cni/net.d; cat > /etc/cni/net.d/10-ptp.conflist; $routes"
done <<<"$nodes"
