#!/usr/bin/env bash
# Unpacks the llama.cpp server of Debian sid into a directory, with all that it needs down
# to the C library and its loader, and makes DIR/llama-server start it. Nothing is
# installed, and no file of the system is changed.
#
#	testdata/llama/server.sh DIR
#
# The packages come from the mirror of Debian in the system's own sources, or from the
# address in DEBIAN.
set -euo pipefail

fail() { echo "llama: $*" >&2; exit 1; }

[ $# -eq 1 ] || fail "usage: server.sh DIR"
for program in apt-get dpkg-deb; do
	command -v "$program" >/dev/null || fail "$program is missing: the server is unpacked from packages of Debian"
done
mkdir -p "$1"
dir=$(cd "$1" && pwd)
apt=$dir/apt root=$dir/root

mirror=${DEBIAN:-$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' | grep -m1 -E '/debian/?$' || true)}
[ -n "$mirror" ] || fail "no mirror of Debian among the sources of apt: name one, DEBIAN=http://…/debian make llama"

# An apt of its own: it knows sid alone, and no package that is installed.
rm -rf "$apt" "$root"
mkdir -p "$apt"/{lists,archives}/partial "$apt/none" "$root"
: >"$apt/status"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb $([ ! -f "$keys" ] || echo "[signed-by=$keys]") $mirror sid main" >"$apt/sources.list"
private=(-q -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt"
	-o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/none"
	-o APT::Update::Error-Mode=any -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
apt-get "${private[@]}" update || fail "the packages of Debian sid cannot be listed at $mirror: is there a network?"
apt-get "${private[@]}" install --download-only --no-install-recommends -y llama.cpp-tools ||
	fail "the packages of the server cannot be fetched from $mirror"

for package in "$apt"/archives/*.deb; do
	dpkg-deb -x "$package" "$root"
done
rm -rf "$apt"

# ggml looks for its backends in the working directory and takes the best for this processor.
cd "$root"
loader=$(echo usr/lib*/ld-linux*.so.*)
libraries=$(dirname usr/lib/*/libllama.so.0)
backends=$(dirname "$(find "$libraries" -name 'libggml-cpu*.so' | sort | head -1)")
cat >"$dir/llama-server.new" <<EOF
#!/bin/sh
root=\$(cd "\$(dirname "\$0")" && pwd)/root
cd "\$root/$backends" || exit 1
exec "\$root/$loader" --library-path "\$root/$libraries:\$root/$libraries/llama" "\$root/usr/bin/llama-server" "\$@"
EOF
chmod +x "$dir/llama-server.new"
"$dir/llama-server.new" --version || fail "the server does not start"
mv "$dir/llama-server.new" "$dir/llama-server"
