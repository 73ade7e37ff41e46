package packagehosts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/packagehosts"
	"acp-agent/internal/testkit/testreq"
)

func TestConfigured(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text, env string
		manager, hosts        string // hosts joined by blanks
	}{
		{name: "npm: the registry and those of scopes", file: ".npmrc", text: "# mine\nregistry=https://A.example/npm/\n@acme:registry = \"https://b.example:8443\"\n", manager: "npm", hosts: "a.example b.example:8443"},
		{name: "npm: a key that only ends alike", file: ".npmrc", text: "myregistry=https://a.example\n//a.example/:_authToken=x\n"},
		{name: "npm: a variable of the environment", file: ".npmrc", text: "registry=${MIRROR}/npm\n", env: "MIRROR=https://a.example", manager: "npm", hosts: "a.example"},
		{name: "npm: by the environment", env: "npm_config_registry=http://a.example", manager: "npm", hosts: "a.example:80"},
		{name: "npm: another file", file: "other", text: "registry=https://a.example", env: "NPM_CONFIG_USERCONFIG=other", manager: "npm", hosts: "a.example"},
		{name: "pip: several lines", file: ".config/pip/pip.conf", text: "[global]\nindex-url = https://a.example/simple\nextra-index-url =\n    https://b.example/simple\n    https://user:pass@c.example/simple\ntimeout = 5\n  https://no.example\n", manager: "pip", hosts: "a.example b.example c.example"},
		{name: "pip: by the environment", env: "PIP_EXTRA_INDEX_URL=https://a.example https://b.example", manager: "pip", hosts: "a.example b.example"},
		{name: "uv: names of indexes", env: "UV_INDEX=corp=https://a.example/simple", manager: "pip", hosts: "a.example"},
		{name: "go: a list with keywords", file: ".config/go/env", text: "GOPROXY=https://a.example|https://b.example/goproxy,direct\nGOSUMDB=sum.example https://c.example\nGOFLAGS=-mod=mod\n", manager: "go", hosts: "a.example b.example c.example"},
		{name: "cargo: a source in place of another", file: ".cargo/config.toml", text: "[source.mirror]\nregistry = \"sparse+https://a.example/index/\"\n[registries.corp]\nindex = 'https://b.example/git/index'\n", manager: "cargo", hosts: "a.example b.example"},
		{name: "no host", file: ".npmrc", text: "registry=file:///srv/npm\nregistry=\nregistry=https:///x\n"},
		{name: "no wildcard gets into a rule", file: ".npmrc", text: "registry=https://*/\nregistry=https://*.example/\n"},
		{name: "an address", file: ".npmrc", text: "registry=http://[2001:db8::1]:4873/\n", manager: "npm", hosts: "[2001:db8::1]:4873"},
		{name: "the same host twice", file: ".npmrc", text: "registry=https://a.example/x\n@s:registry=https://a.example./y\n", manager: "npm", hosts: "a.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if tt.file != "" {
				write(t, filepath.Join(home, tt.file), tt.text)
			}
			var want []packagehosts.Manager
			if tt.hosts != "" {
				want = []packagehosts.Manager{{Name: tt.manager, Hosts: strings.Fields(tt.hosts)}}
			}
			if got := packagehosts.Configured(home, []string{tt.env}, nil); !slices.EqualFunc(got, want, same) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// What a project can write is none of the user's settings, however the user's lead there.
func TestConfigured_InProject(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	const text = "registry=https://a.example\n@x:registry=https://b.example\n"
	write(t, filepath.Join(project, ".npmrc"), text)
	write(t, filepath.Join(home, "mine"), text)
	for _, link := range [][2]string{{filepath.Join(project, ".npmrc"), filepath.Join(home, ".npmrc")}, {filepath.Join(home, "mine"), filepath.Join(project, "link")}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			testreq.Skip(t, "no links here")
		}
	}
	// Links from the home through the project to elsewhere, of a file and of a directory.
	through, above := t.TempDir(), t.TempDir()
	write(t, filepath.Join(above, "real", "npmrc"), text)
	for _, link := range [][2]string{
		{filepath.Join(project, "link"), filepath.Join(through, ".npmrc")},
		{filepath.Join(above, "real"), filepath.Join(project, "dir")},
		{filepath.Join(project, "dir"), filepath.Join(above, "settings")},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct{ home, env string }{
		"a file through the project":       {through, ""},
		"a directory through the project":  {t.TempDir(), "NPM_CONFIG_USERCONFIG=" + filepath.Join(above, "settings", "npmrc")},
		"a variable":                       {t.TempDir(), "NPM_CONFIG_USERCONFIG=" + filepath.Join(project, ".npmrc")},
		"a link in the home":               {home, ""},
		"the home in the project":          {project, ""},
		"a link in the project leads away": {t.TempDir(), "NPM_CONFIG_USERCONFIG=" + filepath.Join(project, "link")},
	} {
		if got := packagehosts.Configured(tt.home, []string{tt.env}, []string{project}); got != nil {
			t.Errorf("%s: %v", name, got)
		}
		if got := packagehosts.Configured(tt.home, []string{tt.env}, nil); len(got) != 1 {
			t.Errorf("%s, of a project that is not open: %v", name, got)
		}
	}
}

// A file of settings that is no file, or far too large, gives no hosts and holds nothing up.
func TestConfigured_Unreadable(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".npmrc"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".config/go/env"), strings.Repeat("#", 1<<20)+"\nGOPROXY=https://a.example\n")
	if got := packagehosts.Configured(home, nil, nil); got != nil {
		t.Errorf("got %v, want none", got)
	}
}

// The package managers themselves write the settings.
func TestConfigured_AsWritten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		manager  string
		commands [][]string
	}{
		{"npm", [][]string{
			{"npm", "config", "set", "registry=https://a.example/npm/", "--location=user"},
			{"npm", "config", "set", "@acme:registry=https://b.example/", "--location=user"},
		}},
		{"pip", [][]string{
			{"python3", "-m", "pip", "config", "--user", "set", "global.index-url", "https://a.example/simple"},
			{"python3", "-m", "pip", "config", "--user", "set", "global.extra-index-url", "https://b.example/simple"},
		}},
		{"go", [][]string{{"go", "env", "-w", "GOPROXY=https://a.example,https://b.example,direct"}}},
	}
	for _, tt := range tests {
		t.Run(tt.manager, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			// Without it, a child that go leaves behind counts go's uses in the home, also after go has ended.
			write(t, filepath.Join(home, ".config", "go", "telemetry", "mode"), "off")
			env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "GOENV=", "GOPROXY=")
			for _, command := range tt.commands {
				if _, err := exec.LookPath(command[0]); err != nil {
					testreq.Skip(t, command[0]+" is not installed")
				}
				cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
				cmd.Env, cmd.Dir = env, home
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", command, err, out)
				}
			}
			want := []packagehosts.Manager{{Name: tt.manager, Hosts: []string{"a.example", "b.example"}}}
			if got := packagehosts.Configured(home, nil, nil); !slices.EqualFunc(got, want, same) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// Whatever stands in a file, what it yields can stand in a rule without meaning more than one host.
func FuzzConfigured(f *testing.F) {
	f.Add("registry=https://a.example/\n")
	f.Add("[global]\nindex-url =\n  https://b.example/x\n")
	f.Add("registry = \"sparse+https://[::1]:80/\"")
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{".npmrc", ".pip/pip.conf", ".config/go/env", ".cargo/config.toml"} {
			write(t, filepath.Join(home, name), text)
		}
		for _, m := range packagehosts.Configured(home, nil, nil) {
			for _, host := range m.Hosts {
				if host == "" || strings.ContainsAny(host, "*?/\\@ \t\n,") {
					t.Errorf("%s: %q is no single host", m.Name, host)
				}
			}
		}
	})
}

func same(a, b packagehosts.Manager) bool {
	return a.Name == b.Name && slices.Equal(a.Hosts, b.Hosts)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// After a link ".." is the directory above what the link leads to, not the one above its name.
func TestConfigured_ParentOfLink(t *testing.T) {
	t.Parallel()
	project, outside, home := t.TempDir(), t.TempDir(), t.TempDir()
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(project, "npmrc"), "registry=https://a.example/\n")
	write(t, filepath.Join(project, "sub", "x"), "")
	around := filepath.Join(outside, "link") + "/../npmrc"
	for _, link := range [][2]string{
		{filepath.Join(project, "sub"), filepath.Join(outside, "link")},
		{around, filepath.Join(home, ".npmrc")},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			testreq.Skip(t, "no links here")
		}
	}
	for name, tt := range map[string]struct{ home, env string }{
		"a variable":         {t.TempDir(), "NPM_CONFIG_USERCONFIG=" + around},
		"a link in the home": {home, ""},
	} {
		if got := packagehosts.Configured(tt.home, []string{tt.env}, []string{project}); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
