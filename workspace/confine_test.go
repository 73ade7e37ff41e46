package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/workspace/run"
)

// TestConfinement builds random trees of directories, files and links, inside
// and outside, and tries random paths: whatever is read lies inside, and
// nothing outside is ever written.
func TestConfinement(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		base := filepath.Join(top, fmt.Sprint(round))
		roots := []string{filepath.Join(base, "in"), filepath.Join(base, "in2"), filepath.Join(base, "inside-not")}
		var paths []string
		for _, root := range roots {
			plant(rt, root, roots, &paths)
		}
		defer os.RemoveAll(base)
		w, err := New(Options{SessionID: "s", Directories: Directories{Cwd: roots[0], Additional: roots[1:2]}, Protection: run.Protection{Secret: isSecret}})
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close(0)
		before := outsideFiles(rt, roots[2])
		c := w.Call("call_1", "x", nil)
		defer c.Finish()
		for range 12 {
			path := crooked(rt, paths)
			text := readOpen(rt, c, path)
			if strings.Contains(text, "OUTSIDE") || strings.Contains(text, "SECRET") {
				rt.Fatalf("%s gave %q", path, text)
			}
			access, err := w.Check(path, true)
			werr := c.FS().WriteText(rt.Context(), path, "INSIDE", nil)
			if werr == nil && (err != nil || !access.Inside) {
				rt.Fatalf("%s was written though the check says %+v, %v", path, access, err)
			}
		}
		if after := outsideFiles(rt, roots[2]); after != before {
			rt.Fatalf("outside changed:\n%s\n%s", before, after)
		}
	})
}

func readOpen(rt *rapid.T, c *Call, path string) string {
	text, err := c.FS().ReadText(rt.Context(), path)
	if err == nil && text.Exists {
		return text.Content
	}
	f, err := c.FS().Open(rt.Context(), path)
	if err != nil {
		return ""
	}
	defer f.Close()
	body, err := io.ReadAll(f)
	if err != nil {
		rt.Fatal(err)
	}
	return string(body)
}

// plant fills a root with files that say where they are, and with links to
// anywhere.
func plant(rt *rapid.T, root string, roots []string, paths *[]string) {
	mark := "INSIDE"
	if strings.HasSuffix(root, "-not") {
		mark = "OUTSIDE"
	}
	dirs := []string{root}
	if err := os.MkdirAll(root, 0o755); err != nil {
		rt.Fatal(err)
	}
	for i := range rapid.IntRange(1, 8).Draw(rt, "entries") {
		dir := rapid.SampledFrom(dirs).Draw(rt, "dir")
		path := filepath.Join(dir, fmt.Sprintf("%c", 'a'+i))
		switch rapid.IntRange(0, 4).Draw(rt, "kind") {
		case 0:
			if os.Mkdir(path, 0o755) == nil {
				dirs = append(dirs, path)
			}
		case 1:
			_ = os.WriteFile(path, []byte(mark), 0o644)
		case 2:
			path = filepath.Join(dir, ".env")
			_ = os.WriteFile(path, []byte("SECRET"), 0o644)
		default:
			_ = os.Symlink(linkTo(rt, roots, *paths), path)
		}
		*paths = append(*paths, path)
	}
}

func linkTo(rt *rapid.T, roots, paths []string) string {
	switch rapid.IntRange(0, 3).Draw(rt, "target") {
	case 0:
		return rapid.SampledFrom(roots).Draw(rt, "root")
	case 1:
		return rapid.SampledFrom([]string{"..", "../..", "../inside-not", "../../inside-not/a", "a", "b/a", ".", ".env", "../in2/a"}).Draw(rt, "relative")
	}
	if len(paths) == 0 {
		return "a"
	}
	return rapid.SampledFrom(paths).Draw(rt, "path")
}

// crooked is a path with detours.
func crooked(rt *rapid.T, paths []string) string {
	path := rapid.SampledFrom(paths).Draw(rt, "path")
	for range rapid.IntRange(0, 3).Draw(rt, "detours") {
		path += "/" + rapid.SampledFrom([]string{"..", ".", "a", "b", "c", ".env", "in", "new", "../inside-not/a"}).Draw(rt, "name")
	}
	return path
}

// outsideFiles lists what lies outside, with its content.
func outsideFiles(rt *rapid.T, root string) string {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		content := ""
		if d.Type().IsRegular() {
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(body)
		}
		fmt.Fprintf(&b, "%s %v %q\n", path, d.Type(), content)
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
	return b.String()
}
