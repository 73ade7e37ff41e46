package workspace

import (
	"testing"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/testreq"
)

func TestWriteText_KeepsAttributes(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	path := put(t, g.in("file"), "old")
	if err := unix.Setxattr(path, "user.note", []byte("kept"), 0); err != nil {
		testreq.Skip(t, "extended attributes")
	}
	if err := g.call(t).FS().WriteText(t.Context(), "file", "new", nil); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 16)
	n, err := unix.Getxattr(path, "user.note", value)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "attribute", string(value[:n]), "kept")
}
