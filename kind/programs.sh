#!/usr/bin/env bash
# Builds every program of a kind cluster from Go modules, where no release can be downloaded.   programs.sh
# About 7 minutes on 2 cores; nothing is done when the cache has these versions already.
set -Eeuo pipefail
source "$(dirname "$0")/environment.sh"
stamp=$programs/versions
[[ -s $stamp && $(<"$stamp") == "$versions" ]] && exit 0

need go gcc pkg-config jq
pkg-config --exists libseccomp || die "libseccomp-dev is needed: runc without seccomp can start no pod"
say "building Kubernetes $KUBERNETES and its tools into $programs: some minutes"
# Go tells each module that it fetches: of interest only where a build fails.
mkdir -p "$cache"; exec 3>&2 2>"$cache/programs.log"
trap 'tail -n 20 "$cache/programs.log" >&3' ERR
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
rm -rf "$programs"; mkdir -p "$programs/cni"
export CGO_ENABLED=0 GOFLAGS=-trimpath

# module NAME PACKAGE@VERSION...: a module of its own for each tool, or their dependencies would have to agree.
module() {
  mkdir "$work/$1"; cd "$work/$1"; go mod init "local/$1" 2>/dev/null
  for package in "${@:2}"; do go get -tool "$package"; done
}
# build TARGET PACKAGE [FLAG...]
build() { nice go build -ldflags "-s -w ${stamps:-}" "${@:3}" -o "$programs/$1" "$2"; }

module kind "sigs.k8s.io/kind@$KIND"; build kind sigs.k8s.io/kind
module etcd "go.etcd.io/etcd/server/v3@$ETCD"; build etcd go.etcd.io/etcd/server/v3
module crictl "sigs.k8s.io/cri-tools/cmd/crictl@$CRICTL"; build crictl sigs.k8s.io/cri-tools/cmd/crictl
module runc "github.com/opencontainers/runc@$RUNC"; CGO_ENABLED=1 build runc github.com/opencontainers/runc -tags seccomp

commands=github.com/containerd/containerd/v2/cmd
module containerd "$commands"/{containerd,containerd-shim-runc-v2,ctr}"@$CONTAINERD"
for name in containerd containerd-shim-runc-v2 ctr; do build "$name" "$commands/$name"; done

plugins=github.com/containernetworking/plugins/plugins
module cni "$plugins"/{main/ptp,main/loopback,ipam/host-local,meta/portmap}"@$CNI"
for name in main/ptp main/loopback ipam/host-local meta/portmap; do build "cni/${name#*/}" "$plugins/$name"; done

# k8s.io/kubernetes takes its own parts from folders beside it; as a dependency it needs the published modules instead.
mkdir "$work/kubernetes"; cd "$work/kubernetes"
gomod=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES" | jq -r .GoMod)
cmds=(kubelet kubeadm kubectl kube-apiserver kube-controller-manager kube-scheduler kube-proxy)
{
  printf 'module local/kubernetes\ngo 1.26.0\nrequire k8s.io/kubernetes v%s\n' "$KUBERNETES"
  sed -n "s#^\s*\(k8s.io/[a-z0-9-]*\) => ./staging.*#replace \1 => \1 v0.${KUBERNETES#1.}#p" "$gomod"
  printf 'tool k8s.io/kubernetes/cmd/%s\n' "${cmds[@]}"
} > go.mod
go mod tidy
info=k8s.io/component-base/version
stamps="-X $info.gitVersion=v$KUBERNETES -X $info.gitMajor=1 -X $info.gitMinor=$(cut -d. -f2 <<<"$KUBERNETES")"
stamps+=" -X $info.gitTreeState=clean -X k8s.io/client-go/pkg/version.gitVersion=v$KUBERNETES"
for name in "${cmds[@]}"; do build "$name" "k8s.io/kubernetes/cmd/$name"; done

echo "$versions" > "$stamp"
