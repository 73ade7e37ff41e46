#!/usr/bin/env bash
# Counts files. A tool in shell: arguments come as JSON on standard input, the
# result goes to standard output in Amp's shape.
set -euo pipefail

if [[ "${TOOLBOX_ACTION:-}" != execute ]]; then
  echo "this module is described by tool.json" >&2
  exit 2
fi

arguments=$(cat)
field='"pattern"[[:space:]]*:[[:space:]]*"([^"\\]*)"'
if [[ ! $arguments =~ $field ]]; then
  printf '{"status":"error","error":{"message":"pattern is required, as plain text","errorCode":"bad-pattern"}}\n'
  exit 0
fi
pattern=${BASH_REMATCH[1]}

echo "counting $pattern" >&2
count=$(find . -type f -name "$pattern" | wc -l)
printf '{"status":"done","result":{"count":%d}}\n' "$((count))"
