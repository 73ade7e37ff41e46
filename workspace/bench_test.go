package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"acp-agent/tools"
)

func benchGround(b *testing.B) *Call {
	b.Helper()
	dir := b.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "file"), make10k(), 0o644); err != nil {
		b.Fatal(err)
	}
	w, err := New(Options{SessionID: "s", Directories: Directories{Cwd: dir, State: filepath.Join(dir, "state")}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close(0) })
	return w.Call("call_1", "read", nil)
}

func make10k() []byte {
	text := make([]byte, 10_000)
	for i := range text {
		text[i] = "abcdefg \n"[i%9]
	}
	return text
}

func BenchmarkNew(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		w, err := New(Options{SessionID: "s", Directories: Directories{Cwd: dir}})
		if err != nil {
			b.Fatal(err)
		}
		w.Close(0)
	}
}

func BenchmarkCheck(b *testing.B) {
	c := benchGround(b)
	for b.Loop() {
		if _, err := c.w.Check("a/b/file", false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadText(b *testing.B) {
	files := benchGround(b).FS()
	for b.Loop() {
		if _, err := files.ReadText(b.Context(), "a/b/file"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteText(b *testing.B) {
	files := benchGround(b).FS()
	before := tools.Text{Content: string(make10k()), Exists: true}
	for b.Loop() {
		if err := files.WriteText(b.Context(), "a/b/file", before.Content, &before); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEdit writes another text each time, so that each needs a pre-image.
func BenchmarkEdit(b *testing.B) {
	files := benchGround(b).FS()
	before := tools.Text{Content: string(make10k()), Exists: true}
	for i := 0; b.Loop(); i++ {
		text := strconv.Itoa(i) + before.Content[len(strconv.Itoa(i)):]
		if err := files.WriteText(b.Context(), "a/b/file", text, &before); err != nil {
			b.Fatal(err)
		}
		before.Content = text
	}
}

// BenchmarkLock is what an edit pays for its lock, within the process and against others.
func BenchmarkLock(b *testing.B) {
	for name, locks := range map[string]*Locks{"alone": {}, "across": {Dir: filepath.Join(b.TempDir(), "locks")}} {
		b.Run(name, func(b *testing.B) {
			b.Cleanup(func() { _ = locks.Close() })
			for b.Loop() {
				unlock, err := locks.Lock(b.Context(), "/a/b/file")
				if err != nil {
					b.Fatal(err)
				}
				unlock()
			}
		})
	}
}
