#!/usr/bin/env bash
# Makes a node image for kind from Debian's packages and our own builds, where kindest/node cannot be pulled.
#   node-image.sh    (needs a Docker daemon and programs.sh; about 90 s; nothing is done when the image is there)
set -euo pipefail
source "$(dirname "$0")/environment.sh"
key="$versions recipe $(cat "$here/node-image.sh" "$here/runc-lite" | sha256sum | cut -c1-12)"
[[ $(docker image inspect --format '{{index .Config.Labels "key"}}' "$OWN_NODE" 2>/dev/null) == "$key" ]] && exit 0

need docker debootstrap go gcc jq busybox
say "making the node image $OWN_NODE: about a minute and a half"
work=$(mktemp -d); root=$work/root; node=
trap 'rm -rf "$work"; [[ -z $node ]] || docker rm -f "$node" >/dev/null' EXIT
packages=systemd,systemd-sysv,dbus,libseccomp2,iproute2,iptables,nftables,kmod,procps,util-linux,mount,ethtool,conntrack
packages+=,jq,ca-certificates,hostname,curl
debootstrap --variant=minbase --include="$packages" bookworm "$root" >"$work/debootstrap.log" 2>&1 ||
  { tail -n 20 "$work/debootstrap.log" >&2; die "debootstrap failed"; }

# --- the system: kind's own node files on a Debian, as its base image has them
files=$(go mod download -json "sigs.k8s.io/kind@$KIND" | jq -r .Dir)/images/base/files
mkdir -p "$root"/{kind/manifests,etc/kubernetes/manifests,opt/cni/bin}
cp -a "$files"/usr/local/bin/* "$root/usr/local/bin/"
cp -rL "$files"/kind/* "$root/kind/"
cp -rL "$files"/etc/* "$root/etc/"
chmod -R u+w "$root/kind" "$root/etc/containerd" "$root/etc/systemd"
chmod 755 "$root/usr/local/bin/entrypoint" "$root"/kind/bin/*
cp "$programs"/{containerd,containerd-shim-runc-v2,ctr,crictl} "$root/usr/local/bin/"
cp "$programs"/{kubelet,kubeadm,kubectl} "$root/usr/bin/"
cp "$programs"/cni/* "$root/opt/cni/bin/"
if raises_limits; then
  cp "$programs/runc" "$root/usr/local/sbin/runc"
else
  cp "$programs/runc" "$root/usr/local/sbin/runc.real"; cp "$here/runc-lite" "$root/usr/local/sbin/runc"
  sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$root/etc/containerd/config.toml"
  sed -i '/OOMScoreAdjust/d; /LimitN/d; /LimitCORE/d' "$root/etc/systemd/system/containerd.service"
fi
(
  cd "$root"
  # A container has no hardware to find and no consoles to log in at.
  rm -f lib/systemd/system/{multi-user,local-fs,basic}.target.wants/* etc/systemd/system/*.wants/*
  rm -f lib/systemd/system/sockets.target.wants/*{udev,initctl}*
  rm -f lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service
  echo ReadKMsg=no >> etc/systemd/journald.conf
  ln -sf /usr/lib/systemd/systemd sbin/init
  chroot . systemctl -q enable kubelet containerd undo-mount-hacks
  chroot . systemctl -q mask systemd-binfmt
  chroot . ctr oci spec |
    jq '.hooks.createContainer += [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' \
      > etc/containerd/cri-base.json
  printf 'v%s' "$KUBERNETES" > kind/version
  # network.sh makes the pod network and no example needs a volume, but kind applies these two files all the same.
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no-default-cni, namespace: kube-system}\n' \
    > kind/manifests/default-cni.yaml
  printf 'apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: standard}\nprovisioner: none/none\n' \
    > kind/manifests/default-storage.yaml
  rm -rf var/cache/apt/* var/lib/apt/lists/* usr/share/{doc,man,locale}/*
)

# --- the images that a node starts with
images=()
# image NAME DOCKERFILE FILE...: the files are the build context.
image() {
  local context; context=$(mktemp -d -p "$work")
  cp -a "${@:3}" "$context/"; printf '%b' "$2" > "$context/Dockerfile"
  quietly docker build -t "$1" "$context"
  images+=("$1")
}
cat > "$work/pause.c" <<'C'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
/* Holds a pod's namespaces open, and buries the orphans of a shared process namespace. */
static void end(int number) { _exit(0); }
static void bury(int number) { while (waitpid(-1, 0, WNOHANG) > 0); }
int main(void) { signal(SIGINT, end); signal(SIGTERM, end); signal(SIGCHLD, bury); for (;;) pause(); }
C
gcc -static -Os -s -o "$work/pause" "$work/pause.c"
image "registry.k8s.io/pause:$PAUSE_IMAGE" 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n' "$work/pause"
docker tag "registry.k8s.io/pause:$PAUSE_IMAGE" registry.k8s.io/pause:3.10; images+=(registry.k8s.io/pause:3.10)
for name in kube-apiserver kube-controller-manager kube-scheduler; do
  image "registry.k8s.io/$name:v$KUBERNETES" "FROM scratch\nCOPY $name /usr/local/bin/\nENV PATH=/usr/local/bin\n" "$programs/$name"
done
image "registry.k8s.io/etcd:$ETCD_IMAGE" 'FROM scratch\nCOPY etcd /usr/local/bin/\nENV PATH=/usr/local/bin\n' "$programs/etcd"
mkdir "$work/bin"; cp "$(command -v busybox)" "$work/bin/busybox"
for applet in $(busybox --list | grep -vx busybox); do ln -sf busybox "$work/bin/$applet"; done
image docker.io/library/busybox:1.36 'FROM scratch\nCOPY bin /bin\nCMD ["sh"]\n' "$work/bin"

# kube-proxy calls nft and its like: they come along with the libraries that they load.
mkdir -p "$work/proxy/usr/sbin"
for tool in usr/sbin/nft usr/sbin/xtables-nft-multi usr/sbin/conntrack usr/bin/kmod; do
  for file in "$tool" $(chroot "$root" ldd "/$tool" | grep -oE '/[^ ]+\.so[^ ]*'); do
    mkdir -p "$work/proxy/$(dirname "$file")"; cp -L "$root/$file" "$work/proxy/$file"
  done
done
modules=$(cd "$root" && echo usr/lib/*/xtables); mkdir -p "$work/proxy/$(dirname "$modules")"
cp -a "$root/$modules" "$work/proxy/$modules"
for name in {ip,ip6}tables{,-save,-restore}; do ln -s xtables-nft-multi "$work/proxy/usr/sbin/$name"; done
image "registry.k8s.io/kube-proxy:v$KUBERNETES" \
  'FROM scratch\nCOPY proxy /\nCOPY kube-proxy /usr/local/bin/\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin\n' \
  "$work/proxy" "$programs/kube-proxy"
docker save "${images[@]}" -o "$work/images.tar"

# --- the images go into the node's containerd, and the whole becomes an image
docker rmi -f "$OWN_NODE-base" >/dev/null 2>&1 || true
tar -C "$root" -c . | docker import --change 'ENV container=docker' - "$OWN_NODE-base" >/dev/null
node=$(docker run -d --privileged --entrypoint sleep "$OWN_NODE-base" infinity)
docker cp "$work/images.tar" "$node:/images.tar"
docker exec "$node" sh -ec '
  containerd >/dev/null 2>&1 & pid=$!
  until ctr version >/dev/null 2>&1; do sleep 0.2; done
  ctr -n k8s.io images import --no-unpack /images.tar >/dev/null
  rm /images.tar; kill $pid; wait $pid || true'
docker commit --change 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]' \
  --change "LABEL key=\"$key\"" "$node" "$OWN_NODE" >/dev/null
