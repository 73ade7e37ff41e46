#!/bin/sh
# Checks the greeting.
got=$(sh ./greet.sh World)
for word in 1 2 3; do
	echo "check $word of 3"
	sleep 0.2
done
if [ "$got" = "Hello, World!" ]; then
	echo "ok: $got"
else
	echo "FAIL: got \"$got\", want \"Hello, World!\""
	exit 1
fi
