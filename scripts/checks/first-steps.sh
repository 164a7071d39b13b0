#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# first-steps.sh DIST: a file goes in and comes out, with what is in DIST alone.
set -eu
relay="$1/bin/relay-host"
place=$(mktemp -d)
trap 'kill $daemon 2>/dev/null || true; rm -rf "$place"' EXIT
daemon=
mkdir "$place/out"
cat >"$place/pipelines.json" <<END
{ "pipelines": [ { "id": "files", "extract": { "from": "inbox" },
  "load": { "target": "folder", "settings": { "directory": "$place/out" } } } ] }
END
"$relay" version
"$relay" check --config "$place/pipelines.json"
echo "some bytes" >"$place/note.txt"
# Handed over while no daemon runs, delivered when one does.
"$relay" submit files "$place/note.txt" --config "$place/pipelines.json"
"$relay" --config "$place/pipelines.json" 2>"$place/log" &
daemon=$!
tries=0
until cmp -s "$place/note.txt" "$place/out/note.txt"; do
  tries=$((tries + 1))
  if [ $tries -gt 200 ] || ! kill -0 $daemon; then
    echo "nothing arrived; the daemon said:" && cat "$place/log" && exit 1
  fi
  sleep 0.1
done
"$relay" status --config "$place/pipelines.json"
kill -TERM $daemon
wait $daemon || { echo "the daemon ended with $?:" && cat "$place/log" && exit 1; }
daemon=
