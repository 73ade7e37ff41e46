package workspace

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"acp-agent/tools"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	cache, writable := t.TempDir(), t.TempDir()
	g := newFixture(t, func(o *Options) { o.Directories.Read, o.Directories.Write = []string{cache}, []string{writable} })
	put(t, g.in("file"), "x")
	put(t, g.in("dir/inner"), "x")
	put(t, g.in("real/.env"), "KEY=1")
	put(t, filepath.Join(cache, "module"), "x")
	secret := put(t, filepath.Join(g.outside, "file"), "outside")
	link(t, g.in("dir"), g.in("absolute"))
	link(t, "dir/../file", g.in("relative"))
	link(t, g.outside, g.in("out"))
	link(t, secret, g.in("outfile"))
	link(t, "real/.env", g.in("notes.txt"))
	link(t, "notes.txt", g.in("twice.txt"))
	link(t, g.cwd, filepath.Join(g.outside, "back"))
	link(t, "loop", g.in("loop"))
	link(t, filepath.Join(g.outside, "new"), g.in("dangling"))

	tests := []struct {
		name, path string
		write      bool
		want       string // inside, outside, or a kind of error
	}{
		{"file", g.in("file"), false, "inside"},
		{"relative path", "dir/inner", false, "inside"},
		{"root itself", g.cwd, false, "inside"},
		{"missing file", g.in("new/deep/file"), true, "inside"},
		{"dot dot inside", g.in("dir/../file"), true, "inside"},
		{"absolute link inside", g.in("absolute/inner"), true, "inside"},
		{"relative link inside", g.in("relative"), true, "inside"},
		{"link back in from outside", filepath.Join(g.outside, "back", "file"), true, "inside"},
		{"cache for reading", filepath.Join(cache, "module"), false, "inside"},
		{"cache for writing", filepath.Join(cache, "module"), true, "denied"},
		{"write root", filepath.Join(writable, "x"), true, "inside"},
		{"scratch", g.Session().Scratch + "/x", true, "inside"},
		{"own sidecars for reading", filepath.Dir(g.Session().Scratch) + "/x", false, "inside"},
		{"own sidecars for writing", filepath.Dir(g.Session().Scratch) + "/x", true, "denied"},
		{"state directory", g.state, false, "denied"},
		{"another session", g.state + "/ses_other/x", false, "denied"},

		{"sibling with the same beginning", secret, false, "outside"},
		{"sibling for writing", secret, true, "denied"},
		{"dot dot out", "../workspace/file", false, "outside"},
		{"dot dot out for writing", "../workspace/file", true, "denied"},
		{"directory link out", g.in("out/file"), false, "outside"},
		{"directory link out for writing", g.in("out/new"), true, "denied"},
		{"file link out", g.in("outfile"), true, "denied"},
		{"dangling link out", g.in("dangling"), true, "denied"},
		{"home", "~", false, "outside"},

		{"secret by name", g.in("real/.env"), false, "bad_input"},
		{"secret that does not exist", g.in(".env"), false, "bad_input"},
		{"secret behind a link", g.in("notes.txt"), false, "bad_input"},
		{"secret behind two links", g.in("twice.txt"), false, "bad_input"},
		{"secret to be overwritten", g.in("real/.env"), true, "bad_input"},
		{"secret to be overwritten by a link", g.in("notes.txt"), true, "bad_input"},
		{"secret to be created", g.in(".env"), true, "inside"},
		{"below a file", g.in("file/x"), false, "bad_input"},
		{"link loop", g.in("loop"), false, "backend"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			access, err := g.Check(tt.path, tt.write)
			got := "outside"
			switch {
			case err != nil:
				got = string(asTool(t, err).Kind)
			case access.Inside:
				got = "inside"
			}
			same(t, "verdict", got, tt.want)
		})
	}
}

func asTool(t *testing.T, err error) *tools.Error {
	t.Helper()
	e, ok := err.(*tools.Error)
	if !ok {
		t.Fatalf("error %v is no tool error", err)
	}
	return e
}

func TestCheck_Texts(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	_, err := g.Check(g.in(".env"), false)
	e := toolError(t, err, tools.BadInput)
	same(t, "code", e.Code, "reading-secret-file")
	same(t, "text", e.Error(), "Refusing to read env file. Reading secrets is not permitted.")

	_, err = g.Check("/elsewhere/x", true)
	e = toolError(t, err, tools.Denied)
	same(t, "message", e.Message, "/elsewhere/x cannot be written: it is outside the session's directories ("+g.cwd+")")
	same(t, "path", e.Path, "/elsewhere/x")
}

func TestCheck_OffersDirectory(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) {
		o.Protection.Protected = func(path string) bool { return slices.Contains([]string{".git", ".vscode"}, filepath.Base(path)) }
	})
	put(t, filepath.Join(g.outside, "lib", "a.go"), "x")
	repository := filepath.Join(g.outside, "other")
	put(t, filepath.Join(repository, ".git", "config"), "x")
	put(t, filepath.Join(g.outside, ".vscode", "tasks.json"), "x")
	put(t, filepath.Join(repository, "lib", "a.go"), "x")
	put(t, filepath.Join(repository, ".vscode", "tasks.json"), "x")
	home := filepath.Dir(g.cwd)
	put(t, filepath.Join(home, "notes"), "x")
	tests := []struct{ name, path, want string }{
		{"a file's directory", filepath.Join(g.outside, "lib", "a.go"), filepath.Join(g.outside, "lib")},
		{"a directory itself", filepath.Join(g.outside, "lib"), filepath.Join(g.outside, "lib")},
		{"a missing file's directory", filepath.Join(g.outside, "lib", "b.go"), filepath.Join(g.outside, "lib")},
		{"nothing for what is not there", filepath.Join(g.outside, "no", "b.go"), ""},
		{"not the home directory", filepath.Join(home, "notes"), ""},
		{"not what is above it", filepath.Dir(home), ""},
		{"not a volume", string(filepath.Separator), ""},
		{"not a protected one", filepath.Join(g.outside, ".vscode", "tasks.json"), ""},
		{"the repository of its git directory", filepath.Join(repository, ".git", "config"), repository},
		{"the repository of a file", filepath.Join(repository, "lib", "a.go"), repository},
		{"the repository of what is protected in it", filepath.Join(repository, ".vscode"), repository},
		{"the repository of a directory", filepath.Join(repository, "lib"), repository},
		{"a repository itself", repository, repository},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			access, err := g.Check(tt.path, false)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "directory", access.Dir, tt.want)
		})
	}
}

func TestGrant(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	setup := func(t *testing.T) (*fixture, string, Access) {
		g := newFixture(t)
		path := put(t, filepath.Join(g.outside, "a"), "text a")
		put(t, filepath.Join(g.outside, "b"), "text b")
		put(t, filepath.Join(g.outside, ".env"), "KEY")
		access, err := g.Check(path, false)
		if err != nil || access.Inside {
			t.Fatalf("Check = %+v, %v", access, err)
		}
		return g, path, access
	}
	t.Run("for one call, one file", func(t *testing.T) {
		g, path, access := setup(t)
		g.Grant("call_1", access, false)
		c := g.call(t)
		if text, err := c.FS().ReadText(ctx, path); err != nil || text.Content != "text a" {
			t.Errorf("ReadText = %+v, %v", text, err)
		}
		for _, other := range []string{"b", "", ".env"} {
			if _, err := c.FS().Open(ctx, filepath.Join(g.outside, other)); err == nil {
				t.Errorf("%q was opened too", other)
			}
		}
		if _, _, err := c.FS().List(ctx, g.outside, 10); err == nil {
			t.Error("the directory was listed")
		}
		if err := c.FS().WriteText(ctx, path, "x", nil); err == nil {
			t.Error("the file was written")
		}
		if _, err := g.Call("call_2", "read", nil).FS().ReadText(ctx, path); err == nil {
			t.Error("another call read the file")
		}
		c.Finish()
		if _, err := g.call(t).FS().ReadText(ctx, path); err == nil {
			t.Error("the file was read after the call")
		}
	})
	t.Run("for the session, the directory", func(t *testing.T) {
		g, path, access := setup(t)
		g.Grant("call_1", access, true)
		c := g.Call("call_2", "read", nil)
		if _, err := c.FS().ReadText(ctx, filepath.Join(g.outside, "b")); err != nil {
			t.Error(err)
		}
		if _, err := c.FS().ReadText(ctx, filepath.Join(g.outside, ".env")); err == nil {
			t.Error("a secret was read")
		}
		if err := c.FS().WriteText(ctx, path, "x", nil); err == nil {
			t.Error("the file was written")
		}
		var opened []string
		for _, dir := range g.OpenedDirs() {
			opened = append(opened, dir.Path)
		}
		same(t, "opened directories", opened, []string{g.outside})
		again, err := g.Check(filepath.Join(g.outside, "b"), false)
		if err != nil || !again.Inside {
			t.Errorf("Check = %+v, %v", again, err)
		}
	})
	t.Run("for the session, until it is taken back", func(t *testing.T) {
		g, path, access := setup(t)
		g.Grant("call_1", access, true)
		g.Grant("call_2", access, true) // a second card was open beside the first
		file, err := g.call(t).FS().Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		same(t, "taken back", g.CloseDir(g.outside), true)
		same(t, "taken back again", g.CloseDir(g.outside), false)
		same(t, "opened directories", len(g.OpenedDirs()), 0)
		if again, err := g.Check(path, false); err != nil || again.Inside {
			t.Errorf("Check = %+v, %v", again, err)
		}
		if _, err := io.ReadAll(file); err != nil {
			t.Errorf("what was open could not be read to its end: %v", err)
		}
	})
	t.Run("what moved since it was checked stays closed", func(t *testing.T) {
		g, path, access := setup(t)
		private := t.TempDir()
		put(t, filepath.Join(private, "a"), "private")
		if err := os.Rename(g.outside, g.outside+"2"); err != nil {
			t.Fatal(err)
		}
		link(t, private, g.outside)
		g.Grant("call_1", access, false)
		if text, err := g.call(t).FS().ReadText(ctx, path); err == nil {
			t.Errorf("read %q", text.Content)
		}
	})
}

// TestCheckName confines a name, and not where a link that has it leads.
func TestCheckName(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in(".env"), "KEY")
	put(t, g.in("file"), "x")
	link(t, g.outside, g.in("out"))
	link(t, filepath.Join(g.outside, "nope"), g.in("dangling"))
	link(t, "loop", g.in("loop"))
	link(t, ".env", g.in("notes"))
	link(t, g.cwd, filepath.Join(g.outside, "in"))
	for _, name := range []string{"file", "out", "dangling", "loop", "nope"} {
		access, err := g.CheckName(name)
		if want := (Access{Path: g.in(name), Real: g.in(name), Inside: true}); err != nil || access != want {
			t.Errorf("%s: %+v, %v, want %+v", name, access, err, want)
		}
	}
	refused := map[string]tools.ErrorKind{
		".env": tools.BadInput, "notes": tools.BadInput,
		filepath.Join(g.outside, "in"): tools.Denied, "out/file": tools.Denied,
	}
	for name, kind := range refused {
		_, err := g.CheckName(name)
		toolError(t, err, kind)
	}
}
