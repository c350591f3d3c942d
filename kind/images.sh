#!/usr/bin/env bash
# Builds the components' images, gpuyard/{extender,device-plugin,operator}:dev, and loads them into a kind cluster.
#   images.sh build        wheels come from the package index, once; docker build itself needs no network
#   images.sh load NAME    into the nodes of the kind cluster NAME
# BASE names the base image; without it python:3.11-slim, or, where that cannot be pulled, a Debian made here.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
components=(extender device-plugin operator)
own_base=gpuyard/base:bookworm
most_megabytes=200 # over the base image: pulled to every node

base() {
  if [[ -n ${BASE:-} ]]; then echo "$BASE"; return; fi
  local stock=python:3.11-slim
  if docker image inspect "$stock" >/dev/null 2>&1 || docker pull -q "$stock" >/dev/null 2>&1; then echo "$stock"; return; fi
  docker image inspect "$own_base" >/dev/null 2>&1 || debian
  echo "$own_base"
}

debian() {
  need debootstrap
  say "making the base image $own_base"
  local root; root=$(mktemp -d)
  debootstrap --variant=minbase --include=python3,python3-pip bookworm "$root" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; die "debootstrap failed"; }
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
  tar -C "$root" -c . | docker import - "$own_base" >/dev/null
  rm -rf "$root" "$root.log"
}

# What is to be installed: the requirements of every component, or of one (an extra of ours), one a line.
requirements() {
  .venv/bin/python - "$@" <<'END'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print(*project["dependencies"], *(line for extra in sys.argv[1:] for line in project["optional-dependencies"][extra]), sep="\n")
END
}

# The build context: the libraries as requirements.lock pins them, for the daemon's kind of machine, and our own wheel.
context() {
  local machine platforms=() libraries=dist/image/libraries
  case $(docker version --format '{{.Server.Arch}}') in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) die "images are built for amd64 and arm64" ;;
  esac
  for glibc in 2014 _2_17 _2_28 _2_34; do platforms+=(--platform "manylinux${glibc}_$machine"); done
  local key; key=$(cat requirements.lock <(requirements "${components[@]}") | sha256sum | cut -c1-12)-$machine
  if [[ $(cat "$libraries/.key" 2>/dev/null) != "$key" ]]; then
    rm -rf "$libraries"
    .venv/bin/pip download --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock \
      --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none \
      "${platforms[@]}" --platform any --dest "$libraries"
    requirements > "$libraries/every.txt"
    for component in "${components[@]}"; do requirements "$component" > "$libraries/$component.txt"; done
    echo "$key" > "$libraries/.key"
  fi
  rm -rf dist/image/gpuyard
  .venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist/image/gpuyard .
}

build() {
  cd "$repository"
  local from; from=$(base); context
  for component in "${components[@]}"; do
    # The classic builder caches a stage as an image, and one without a name would be litter.
    tag "gpuyard/$component:libraries" --target component
    tag "gpuyard/$component:dev"
    weigh "gpuyard/$component:dev" "$from"
  done
}

# Builds an image. What the tag named before goes: nobody would find it any more, and it is large.   tag IMAGE [ARGUMENT...]
tag() {
  local image=$1 before; shift
  before=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null || true)
  quietly docker build --build-arg "BASE=$from" --build-arg "COMPONENT=$component" "$@" \
    --tag "$image" --file Dockerfile dist/image
  [[ -z $before || $before == "$(docker image inspect --format '{{.Id}}' "$image")" ]] || docker image rm "$before" >/dev/null 2>&1 || true
}

# Fails when an image is too large.   weigh IMAGE BASE
weigh() {
  local megabytes=$(( ($(docker image inspect --format '{{.Size}}' "$1") - $(docker image inspect --format '{{.Size}}' "$2")) / 1000000 ))
  say "$1: $megabytes MB over $2"
  (( megabytes <= most_megabytes )) || die "$1 is over $most_megabytes MB: see docker history $1"
}

load() { kind load docker-image --name "$1" "${components[@]/#/gpuyard/}"; }

case ${1:-} in
  build) need docker; build ;;
  load) need docker kind; components=("${components[@]/%/:dev}"); load "${2:?name the kind cluster}" ;;
  *) die "usage: images.sh build | load NAME" ;;
esac
