#!/usr/bin/env bash
# The pod network of a cluster made with our own node image: each node's pods on a bridge of their own, and a route to
# the pods of every other node.   network.sh    (again after a node was restarted: routes do not outlive it)
set -euo pipefail
source "$(dirname "$0")/environment.sh"
nodes=$(kubectl get nodes --output jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}')

while read -r node pods _; do
  jq -n --arg pods "$pods" '{cniVersion: "1.0.0", name: "pods", plugins: [
    {type: "ptp", mtu: 1500, ipam: {type: "host-local", dataDir: "/run/cni-ipam-state",
      routes: [{dst: "0.0.0.0/0"}], ranges: [[{subnet: $pods}]]}},
    {type: "portmap", capabilities: {portMappings: true}}]}' |
    docker exec -i "$node" sh -c 'mkdir -p /etc/cni/net.d && cat > /etc/cni/net.d/10-ptp.conflist'
  while read -r other others address; do
    [[ $other == "$node" ]] || docker exec "$node" ip route replace "$others" via "$address" </dev/null
  done <<<"$nodes"
done <<<"$nodes"
