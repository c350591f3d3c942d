#!/bin/sh
# Certificates for the component, into a folder:   certificates.sh FOLDER
#   ca.crt, ca.key            the authority; run again with the same folder to renew what it has signed
#   extender.crt, .key        shown by the extender, for its fixed ClusterIP and its Service's name
#   scheduler.crt, .key       shown by kube-scheduler
# Good for a year, the authority for ten. Keep ca.key away from the cluster.
set -eu
umask 077
mkdir -p "$1"
cd "$1"

[ -e ca.key ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
  -subj "/CN=gpuyard" -addext keyUsage=critical,keyCertSign,cRLSign -keyout ca.key -out ca.crt 2>/dev/null

sign() { # NAME COMMON-NAME USE [ALTERNATIVE-NAMES]
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  {
    echo "basicConstraints=critical,CA:FALSE"
    echo "extendedKeyUsage=$3"
    [ -z "${4:-}" ] || echo "subjectAltName=$4"
  } > "$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
  rm "$1.csr" "$1.ext"
}
sign extender gpuyard-extender serverAuth "IP:10.96.0.81,DNS:gpuyard-extender.gpuyard-system.svc"
sign scheduler kube-scheduler clientAuth
