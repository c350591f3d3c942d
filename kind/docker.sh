#!/usr/bin/env bash
# Makes sure that a Docker daemon answers: starts one where none does.   docker.sh start | stop
# What `start` did not start, `stop` does not end.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
pidfile=$cache/dockerd.pid
# The machine's own containerd, shim and runc belong together. Ours are for the nodes, and may not even be built yet: a
# containerd that is older than a shim that turns up later cannot talk to it.
PATH=${PATH//"$programs:"/}

configuration() {
  if raises_limits; then echo '{}'; return; fi
  printf '#!/bin/sh\nRUNC_REAL=%s exec %s "$@"\n' "$(command -v runc)" "$cache/runc-lite" > "$cache/runc-host"
  cp "$here/runc-lite" "$cache/runc-lite"; chmod 755 "$cache/runc-lite" "$cache/runc-host"
  printf '{"default-runtime": "lite", "runtimes": {"lite": {"path": "%s"}}}\n' "$cache/runc-host"
}

start() {
  ! docker info >/dev/null 2>&1 || return 0
  need dockerd runc jq
  (( EUID == 0 )) || die "no Docker daemon answers, and only root can start one"
  mkdir -p "$cache"; configuration > "$cache/daemon.json"
  setsid dockerd --config-file "$cache/daemon.json" --pidfile "$pidfile" >"$cache/dockerd.log" 2>&1 </dev/null &
  local deadline=$(( SECONDS + 60 ))
  until docker info >/dev/null 2>&1; do
    (( SECONDS < deadline )) || die "the Docker daemon does not come up: see $cache/dockerd.log"
    sleep 0.2
  done
  say "started a Docker daemon"
}

stop() {
  [[ -s $pidfile ]] || return 0
  local pid deadline=$(( SECONDS + 30 )); pid=$(<"$pidfile")
  [[ $(cat "/proc/$pid/comm" 2>/dev/null) == dockerd ]] || return 0
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null && (( SECONDS < deadline )); do sleep 0.2; done
}

case ${1:-} in start | stop) "$1" ;; *) die "usage: docker.sh start | stop" ;; esac
