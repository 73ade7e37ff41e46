package launch

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnv_Variables(t *testing.T) {
	t.Parallel()
	const (
		letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123"
		secret  = "local-configured-value"
	)
	tests := []struct {
		name, entry string
		kept        bool
	}{
		{"home", "HOME=/home/u", true},
		{"language", "LANG=en_US.UTF-8", true},
		{"go", "GOPATH=/home/u/go", true},
		{"java", "JAVA_HOME=/opt/jdk", true},
		{"node", "NVM_DIR=/home/u/.nvm", true},
		{"rust", "CARGO_HOME=/home/u/.cargo", true},
		{"python environment", "VIRTUAL_ENV=/w/.venv", true},
		{"android", "ANDROID_HOME=/opt/android", true},
		{"compiler", "CC=clang", true},
		{"proxy without password", "HTTPS_PROXY=http://proxy:3128", true},
		{"author", "GIT_AUTHOR_NAME=U", true},
		{"profile", "AWS_PROFILE=dev", true},
		{"word with sk- inside", "RUNNER=task-" + letters, true},
		{"short sk-", "A=sk-none", true},
		{"empty value", "EMPTY=", true},
		{"git hash", "COMMIT=0123456789abcdef0123456789abcdef01234567", true},
		{"remote with user", "REMOTE=ssh://git@host/r.git", true},

		{"key", "OPENAI_API_KEY=x", false},
		{"lower case", "my_token=x", false},
		{"secret", "CLIENT_SECRET_ID=x", false},
		{"password", "DB_PASSWORD=x", false},
		{"passwd", "PGPASSWD=x", false},
		{"credentials", "GOOGLE_APPLICATION_CREDENTIALS=/f", false},
		{"provider", "ANTHROPIC_BASE_URL=x", false},
		{"preload", "LD_PRELOAD=/x.so", false},
		{"mac preload", "DYLD_INSERT_LIBRARIES=/x", false},
		{"bash start file", "BASH_ENV=/x", false},
		{"sh start file", "ENV=/x", false},
		{"prompt", "PROMPT_COMMAND=x", false},
		{"exported function", "BASH_FUNC_ls%%=() { evil; }", false},
		{"shell options", "SHELLOPTS=xtrace", false},
		{"shell of another version", "BASH_COMPAT=3.2", false},
		{"shell of the standard", "POSIXLY_CORRECT=1", false},
		{"git program", "GIT_SSH_COMMAND=x", false},
		{"git config", "GIT_CONFIG_COUNT=1", false},
		{"node options", "NODE_OPTIONS=--require x", false},
		{"python path", "PYTHONPATH=/x", false},
		{"perl", "PERL5LIB=/x", false},
		{"ssh agent", "SSH_AUTH_SOCK=/tmp/s", false},
		{"docker", "DOCKER_HOST=unix:///s", false},
		{"dbus", "DBUS_SESSION_BUS_ADDRESS=unix:path=/s", false},
		{"runtime directory", "XDG_RUNTIME_DIR=/run/user/1", false},
		{"multiplexer", "TMUX=/tmp/t,1,0", false},
		{"colour", "FORCE_COLOR=1", false},
		{"last directory", "OLDPWD=/x", false},
		{"outer command", cookieName + "=x", false},

		{"openai value", "A=sk-proj-" + letters, false},
		{"value inside", "A=--header=sk-" + letters, false},
		{"github value", "A=ghp_" + letters, false},
		{"github fine-grained", "A=github_pat_" + letters, false},
		{"amazon value", "A=AKIAABCDEFGHIJKLMNOP", false},
		{"slack value", "A=xoxb-1234567890-abc", false},
		{"google value", "A=AIza" + letters, false},
		{"private key", "A=-----BEGIN RSA PRIVATE KEY-----\nMII", false},
		{"web token", "A=Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", false},
		{"url password", "A=postgres://u:p@host/db", false},
		{"proxy password", "HTTPS_PROXY=http://u:p@proxy:3128", false},
		{"configured", "A=" + secret, false},
		{"configured inside", "A=x" + secret + "y", false},
		{"short configured", "A=ollama", false},
		{"short configured inside", "A=/opt/ollama/bin", true},
		{"nul", "A=x\x00y", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env, dropped := Env([]string{tt.entry}, EnvOptions{Secrets: []string{"", secret, "ollama"}})
			name, _, _ := strings.Cut(tt.entry, "=")
			if kept := slices.Contains(env, tt.entry); kept != tt.kept {
				t.Errorf("%q kept: %v; want %v", tt.entry, kept, tt.kept)
			}
			if missing := slices.Contains(dropped, name); missing == tt.kept {
				t.Errorf("%q in %q: %v; want %v", name, dropped, missing, !tt.kept)
			}
		})
	}
}

func TestEnv_Path(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths of another form")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, outside := filepath.Join(base, "work"), filepath.Join(base, "work-not")
	for _, d := range []string{filepath.Join(work, "bin"), outside} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	into := filepath.Join(base, "link")
	if err := os.Symlink(filepath.Join(work, "bin"), into); err != nil {
		t.Fatal(err)
	}
	entries := []string{"/usr/bin", "bin", "", ".", work, filepath.Join(work, "bin"), filepath.Join(work, "absent"), into, outside, outside + "/../work/bin", "/absent"}
	env, dropped := Env([]string{"PATH=" + strings.Join(entries, ":")}, EnvOptions{Workspace: []string{"", work}})
	if want := "PATH=/usr/bin:" + outside + ":/absent"; !slices.Contains(env, want) {
		t.Errorf("env %q; want %q", env, want)
	}
	if len(dropped) != 8 || !slices.Contains(dropped, "PATH "+into) {
		t.Errorf("dropped %q; want eight entries with %q", dropped, into)
	}
}

// What package managers put into a project is found where the user trusts it, and nothing else.
func TestEnv_ProjectPrograms(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(path)
	}
	put("venv/pyvenv.cfg")
	if err := os.MkdirAll(filepath.Join(work, "fake", "pyvenv.cfg"), 0o755); err != nil {
		t.Fatal(err)
	}
	kept := []string{put("venv/bin/python"), put("web/node_modules/.bin/tsc")}
	dropped := []string{put("bin/make"), put("other/bin/python"), put("fake/bin/python"), put("node_modules/x/bin/y"), put(".bin/x")}
	list := func(dirs []string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	environ := []string{"PATH=" + list(slices.Concat(dropped, kept))}
	env, out := Env(environ, EnvOptions{Workspace: []string{work}, ProjectPrograms: true})
	if !slices.Contains(env, "PATH="+list(kept)) || len(out) != len(dropped) {
		t.Errorf("kept %q, dropped %q", env, out)
	}
	if _, out = Env(environ, EnvOptions{Workspace: []string{work}}); len(out) != len(dropped)+len(kept) {
		t.Errorf("without trust, dropped %q", out)
	}
}

func TestEnv_Defaults(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no default path")
	}
	env, _ := Env(
		[]string{"TERM=xterm-256color", "PAGER=less", "A=1", "A=2", "=C:=C:\\", "noise"},
		EnvOptions{Set: []string{"GIT_TERMINAL_PROMPT=0", "PAGER=more"}},
	)
	want := []string{"A=2", "PATH=" + defaultPath, "TERM=dumb", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0", "PAGER=more"}
	if d := cmp.Diff(want, env); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
}

func TestFindShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("paths of another form")
	}
	root := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := file("good/prog", 0o700)
	file("plain/prog", 0o600)
	file("work/prog", 0o700)
	if err := os.MkdirAll(filepath.Join(root, "link"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "work/prog"), filepath.Join(root, "link/prog")); err != nil {
		t.Fatal(err)
	}
	work := resolveAll([]string{filepath.Join(root, "work")})
	tests := []struct{ name, path, want string }{
		{"nothing", "", ""},
		{"relative", "good", ""},
		{"not executable", root + "/plain", ""},
		{"in the workspace", root + "/work", ""},
		{"linked into the workspace", root + "/link", ""},
		{"first good one", root + "/none:" + root + "/plain:" + root + "/work:" + root + "/good", good},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := findProgram("prog", nil, shellDirs(tt.path), work); got != tt.want {
				t.Errorf("got %q; want %q", got, tt.want)
			}
		})
	}
	sh, err := FindShell("", []string{"/"})
	if err == nil {
		t.Errorf("found %q inside a workspace that holds everything", sh.Path)
	}
}
