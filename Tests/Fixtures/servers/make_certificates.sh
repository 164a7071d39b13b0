#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_certificates.sh FOLDER: an authority (ca.pem) and certificates signed by it: good, other (another host), client, expired.
set -e
cd "$1"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 30 \
  -subj /CN=Test-CA -addext basicConstraints=critical,CA:TRUE 2>/dev/null
make() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
  printf 'subjectAltName=%s\n' "$2" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$1.pem" -extfile "$1.ext" \
    -days "$3" 2>/dev/null
}
make good IP:127.0.0.1,DNS:localhost,DNS:relay-test.local,DNS:relay-mdns.local 30
make other DNS:other.example 30
make client DNS:client 30
make expired IP:127.0.0.1,DNS:localhost -1
