package sandbox

import (
	"slices"
	"testing"
)

func TestSocketsInUse(t *testing.T) {
	const list = `Num       RefCount Protocol Flags    Type St Inode Path
00000000ca912aa9: 00000003 00000000 00000000 0001 03  1679
00000000ca912aaa: 00000002 00000000 00010000 0001 01   168 /run/a b/s
00000000ca912aab: 00000002 00000000 00010000 0001 01 16800 @/tmp/.X11-unix/X0
00000000ca912aac: 00000002 00000000 00010000 0001 01 16801 01
00000000ca912aad: 00000002 00000000 00010000 0001 01 16802 ./sub/s.sock
00000000ca912aae: 00000003 00000000 00000000 0001 03 16803 /run/a b/s
`
	want := []string{"/run/a b/s", "/p/01", "/q/01", "/p/sub/s.sock", "/q/sub/s.sock"}
	if got := socketsInUse(list, []string{"/p", "/q"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
