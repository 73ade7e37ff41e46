package patch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/patch"
)

// one parses a patch of one file.
func one(t *testing.T, text string) patch.FileChange {
	t.Helper()
	p, err := patch.Parse(t.Context(), text)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if len(p.Files()) != 1 {
		t.Fatalf("Parse gives %d files, want 1", len(p.Files()))
	}
	return p.Files()[0]
}

const names = "--- a/f\n+++ b/f\n"

func TestApply(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, patch, want string
	}{
		{"by number", "a\nb\nc\n", names + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		{"number decides among equal places", "x\ny\nx\ny\n", names + "@@ -3,2 +3,2 @@\n-x\n+X\n y\n", "x\ny\nX\ny\n"},
		{"lines moved down", "1\n2\n3\na\nb\nc\n", names + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "1\n2\n3\na\nB\nc\n"},
		{"the hunk before shows how far", "0\nx\na\na\na\na\na\na\nx\na\nx\n", names + "@@ -1 +1 @@\n-0\n+O\n@@ -9 +9 @@\n-x\n+X\n", "O\nx\na\na\na\na\na\na\nX\na\nx\n"},
		{"clearly nearest", "a\n" + strings.Repeat("-\n", 40) + "a\n", names + "@@ -4 +4 @@\n-a\n+A\n", "A\n" + strings.Repeat("-\n", 40) + "a\n"},
		{"counts are wrong", "a\nb\nc\n", names + "@@ -1,9 +1,1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		{"no numbers", "a\nb\nc\n", names + "@@ ... @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		{"empty context line lost its blank", "a\n\nc\n", names + "@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n", "a\n\nC\n"},
		{"empty lines after the hunk", "a\nb\n", names + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n\n", "a\nB\n"},
		{"hunks out of order", "a\nb\nc\n", names + "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n", "A\nb\nC\n"},
		{"hunks share context", "a\nb\nc\n", names + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "A\nb\nC\n"},
		{"CRLF file, LF patch", "a\r\nb\r\nc\r\n", names + "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n", "a\r\nB\r\nBB\r\nc\r\n"},
		{"CRLF file, CRLF patch", "a\r\nb\r\n", "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\r\nB\r\n"},
		{"LF file, CRLF patch", "a\nb\n", "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n"},
		{"patch changes line ends", "a\r\nb\r\n", names + "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n", "a\nb\r\n"},
		{"mark kept", "\ufeffa\nb\n", names + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "\ufeffA\nb\n"},
		{"mark kept before new first line", "\ufeffa\nb\n", names + "@@ -1,2 +1,3 @@\n+0\n a\n b\n", "\ufeff0\na\nb\n"},
		{"mark removed", "\ufeffa\n", names + "@@ -1 +1 @@\n-\ufeffa\n+a\n", "a\n"},
		{"no final newline kept", "a\nb", names + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"},
		{"line after the last without newline", "a", names + "@@ -1 +1,2 @@\n a\n+b\n", "a\nb"},
		{"final newline added", "a\nb", names + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n"},
		{"final newline removed", "a\nb\n", names + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n", "a\nB"},
		{"blanks at the end of lines", "a  \nb\nc\t\n", names + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a  \nB\nc\t\n"},
		{"indentation", "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", names + "@@ -2,3 +2,4 @@\n     if x {\n-        y()\n+        z()\n+        w()\n     }\n", "func f() {\n\tif x {\n\t\tz()\n\t\tw()\n\t}\n}\n"},
		{"indentation of one line", "if x {\n\ty()\n}\n", names + "@@ -2 +2,2 @@\n-  y()\n+  z()\n+    w()\n", "if x {\n\tz()\n\t  w()\n}\n"},
		{"indentation, lines that end alike", "xa\n\ta\n", names + "@@ -2 +2 @@\n-a\n+b\n", "xa\n\tb\n"},
		{"indentation, CRLF file, no final newline", "{\r\n\ta\r\n\tb", names + "@@ -2,2 +2,3 @@\n   a\n-  b\n+  c\n+  d\n", "{\r\n\ta\r\n\tc\r\n\td"},
		{"indentation, mark", "\ufeff\ta\n", names + "@@ -1 +1 @@\n-  a\n+  b\n", "\ufeff\tb\n"},
		{"blanks at the end of lines go before indentation", "\ta\na \n", names + "@@ -1 +1 @@\n-a\n+b\n", "\ta\nb\n"},
		{"only adds, empty file", "", names + "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"},
		{"only adds, by number", "a\nb\n", names + "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n"},
		{"only adds, CRLF file", "a\r\nb\r\n", names + "@@ -1,0 +2 @@\n+x\n", "a\r\nx\r\nb\r\n"},
		{"removed line like a name", "a\n-- b\nc\n", names + "@@ -1,3 +1,3 @@\n a\n--- b\n+++ b\n c\n", "a\n++ b\nc\n"},
		{"lines like names end the hunk", "a\n-- b\n", names + "@@ -1,2 +1,2 @@\n a\n--- b\n+++ b\n", "a\n++ b\n"},
		{"everything goes", "a\nb\n", names + "@@ -1,2 +0,0 @@\n-a\n-b\n", ""},
		{"signature of a mail", "a\n", names + "@@ -1 +1 @@\n-a\n+A\n-- \n2.40.1\n", "A\n"},
		{"envelope", "a\nb\nc\n", "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n*** End Patch\n", "a\nB\nc\n"},
		{"envelope, below an anchor", "f\nx\ng\nx\n", "*** Begin Patch\n*** Update File: f\n@@ g\n-x\n+X\n*** End Patch", "f\nx\ng\nX\n"},
		{"envelope, at the end", "x\na\nx\n", "*** Begin Patch\n*** Update File: f\n@@\n-x\n+X\n*** End of File\n*** End Patch", "x\na\nX\n"},
		{"envelope, only adds", "a\n", "*** Begin Patch\n*** Update File: f\n+b\n*** End Patch", "a\nb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := patch.Apply(t.Context(), tt.old, one(t, tt.patch))
			if err != nil {
				t.Fatalf("Apply: %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Apply (-want +got):\n%s", diff)
			}
		})
	}
}

// The end of the context is seen before the next hunk.
func TestApply_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	cancel(why)
	if got, err := patch.Apply(ctx, "a\n", one(t, names+"@@ -1 +1 @@\n-a\n+b\n")); !errors.Is(err, why) || got != "" {
		t.Errorf("Apply = %q, %v", got, err)
	}
}

// large is a file of about 3 MB and a patch of 200 hunks, none of which has the
// file's whitespace.
func large(tb testing.TB) (old, want string, change patch.FileChange) {
	var file, after, hunks strings.Builder
	hunks.WriteString(names)
	for i := range 60_000 {
		line := fmt.Sprintf("\tcall(%d, \"the quick brown fox jumps over it\")\n", i)
		file.WriteString(line)
		if i%300 != 0 {
			after.WriteString(line)
			continue
		}
		text := strings.TrimSpace(line)
		fmt.Fprintf(&hunks, "@@ -%d +%d @@\n-    %s\n+    // %s\n", i+1, i+1, text, text)
		fmt.Fprintf(&after, "\t// %s\n", text)
	}
	p, err := patch.Parse(context.Background(), hunks.String())
	if err != nil {
		tb.Fatal(err)
	}
	return file.String(), after.String(), p.Files()[0]
}

func TestApply_Large(t *testing.T) {
	t.Parallel()
	old, want, change := large(t)
	if got, err := patch.Apply(t.Context(), old, change); err != nil || got != want {
		t.Errorf("Apply gives %d bytes, %v; want %d", len(got), err, len(want))
	}
}

// A hunk whose indentation is forgiven is written in time that grows with its
// lines, not with their square.
func TestApply_LargeHunkIsFast(t *testing.T) {
	t.Parallel()
	const n = 120_000
	var old, want, removed, added strings.Builder
	for i := range n {
		fmt.Fprintf(&old, "\tcall(%d)\n", i)
		fmt.Fprintf(&want, "\tdo(%d)\n", i)
		fmt.Fprintf(&removed, "-    call(%d)\n", i)
		fmt.Fprintf(&added, "+    do(%d)\n", i)
	}
	change := one(t, names+fmt.Sprintf("@@ -1,%d +1,%d @@\n", n, n)+removed.String()+added.String())
	start := time.Now()
	got, err := patch.Apply(t.Context(), old.String(), change)
	if err != nil || got != want.String() {
		t.Errorf("Apply gives %d bytes, %v; want %d", len(got), err, want.Len())
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("Apply took %v", took)
	}
}

// The text is normalised once, however many hunks there are: some 40 ms instead
// of 12 s on the machine where it was measured.
func BenchmarkApply_Large(b *testing.B) {
	old, _, change := large(b)
	for b.Loop() {
		if _, err := patch.Apply(b.Context(), old, change); err != nil {
			b.Fatal(err)
		}
	}
}

func TestApply_Refused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, patch, want string
	}{
		{"not there", "a\nb\n", names + "@@ -1 +1 @@\n-x\n+y\n", "patch line 3: f: the hunk does not match the file"},
		{"part of a line", "xa\nb\n", names + "@@ -1 +1 @@\n-a\n+A\n", "does not match"},
		{"ambiguous", "x\na\nx\n", names + "@@\n-x\n+y\n", "patch line 3: f: the hunk fits at 2 places (lines 1, 3)"},
		{"number in the middle of two places", "x\na\nx\n", names + "@@ -2 +2 @@\n-x\n+y\n", "fits at 2 places"},
		{"whitespace forgiven twice", "\tx\n\ta\n\tx\n", names + "@@ -1 +1 @@\n-x\n+y\n", "fits at several places when whitespace is forgiven (lines 1, 3)"},
		{"another block structure", "if x {\n\ta()\nb()\n}\n", names + "@@\n-  if x {\n-    a()\n-    b()\n-  }\n+c\n", "does not match"},
		{"blanks alone are not forgiven", "a\n\t\nb\n", names + "@@ -2 +2 @@\n-  \n+c\n", "does not match"},
		{"anchor that is there twice", "g\nx\ng\nx\n", "*** Update File: f\n@@ g\n-x\n+y\n", "fits at 2 places"},
		{"hunks overlap", "a\nb\n", names + "@@ -1 +1 @@\n-a\n+A\n@@ -1,2 +1,2 @@\n-a\n+B\n b\n", "patch line 6: f: two hunks change the same lines"},
		{"only adds after the end", "a\n", names + "@@ -7,0 +8 @@\n+b\n", "does not say where"},
		{"deletes less than there is", "a\nb\n", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "more lines than the patch deletes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := patch.Apply(t.Context(), tt.old, one(t, tt.patch))
			if !errors.As(err, new(*patch.Error)) || !strings.Contains(err.Error(), tt.want) || got != "" {
				t.Errorf("Apply = %q, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}
