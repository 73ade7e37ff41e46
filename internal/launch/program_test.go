package launch

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
)

func TestProgramEnv(t *testing.T) {
	t.Parallel()
	const secret = "local-configured-value"
	tests := []struct {
		name, entry string
		kept        bool
	}{
		{"home", "HOME=/home/u", true},
		{"locale", "LC_ALL=C.UTF-8", true},
		{"cache", "XDG_CACHE_HOME=/home/u/.cache", true},
		{"go", "GOMODCACHE=/home/u/go/pkg/mod", true},
		{"rust", "CARGO_HOME=/home/u/.cargo", true},
		{"windows", "SystemRoot=C:\\Windows", true},
		{"proxy", "https_proxy=http://proxy:3128", true},
		{"proxy with password", "HTTPS_PROXY=http://u:p@proxy:3128", false},
		{"configured secret in an allowed name", "GOPROXY=https://" + secret + ".example", false},
		{"sockets of other programs", "XDG_RUNTIME_DIR=/run/user/1", false},
		{"modules for every script", "NODE_PATH=/tmp/x", false},
		{"anything else", "FAVOURITE_COLOUR=red", false},
		{"a toolchain's credentials", "GOAUTH=netrc", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := ProgramEnv([]string{tt.entry}, EnvOptions{Secrets: []string{secret}})
			if got := slices.Contains(env, tt.entry); got != tt.kept {
				t.Errorf("kept = %v, want %v: %q", got, tt.kept, env)
			}
		})
	}
}

func TestProgramEnv_DeclaredAndDefaults(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the defaults are for Unix")
	}
	in := t.TempDir()
	got := ProgramEnv([]string{"PATH=bin:" + in + ":/usr/bin", "X=1"}, EnvOptions{Workspace: []string{in}, Set: []string{"DECLARED=yes"}})
	want := []string{"PATH=/usr/bin", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "DECLARED=yes"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFindProgram(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	exe := func(parts ...string) string {
		p := filepath.Join(append([]string{top}, parts...)...)
		if runtime.GOOS == "windows" {
			p += ".exe"
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, second := exe("first", "fmt"), exe("second", "fmt")
	work := filepath.Join(top, "work")
	inside := exe("work", "bin", "fmt")
	exe("work", "bin", "only")
	linked := filepath.Join(top, "linked")
	if err := os.Symlink(filepath.Dir(inside), linked); err != nil {
		testreq.Skip(t, "symbolic links")
	}
	path := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	tests := []struct{ name, program, path, want string }{
		{"first on the path", "fmt", path(filepath.Dir(first), filepath.Dir(second)), first},
		{"absolute", second, "", second},
		{"inside the workspace is passed over", "fmt", path(filepath.Dir(inside), filepath.Dir(second)), second},
		{"nor by a link", "fmt", path(linked, filepath.Dir(second)), second},
		{"only inside", "only", path(filepath.Dir(inside), linked), ""},
		{"absolute inside", inside, "", ""},
		{"relative entry", "fmt", path(".", "first"), ""},
		{"relative name", filepath.Join("first", "fmt"), path(top), ""},
		{"up", "..", path(filepath.Dir(first)), ""},
		{"empty", "", path(filepath.Dir(first)), ""},
		{"missing", "nothing", path(filepath.Dir(first)), ""},
		{"absolute and missing", filepath.Join(top, "nothing"), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := FindProgram(tt.program, tt.path, []string{work})
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("FindProgram = %q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}
