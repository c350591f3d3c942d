#!/usr/bin/env bash
# Installs from Debian's packages what the other scripts of this folder and `make browser` call and this machine lacks.   packages.sh
# For machines that are made anew for each run; needs root. Go is not among them: Debian's is older than Kubernetes asks for.
set -euo pipefail
source "$(dirname "$0")/environment.sh"

packages=(debootstrap jq busybox-static gcc libc6-dev libseccomp-dev pkg-config iproute2 iptables chromium)
command -v dockerd >/dev/null || packages+=(docker.io)
missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
(( ${#missing[@]} )) || exit 0

say "installing ${missing[*]}"
(( EUID == 0 )) || die "only root can install: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --yes --no-install-recommends "${missing[@]}" >/dev/null
