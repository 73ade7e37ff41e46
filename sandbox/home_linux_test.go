package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tokenFiles are well-known files of homes that hold credentials: of agents, clouds,
// registries, hosts, shells, browsers and mail.
var tokenFiles = []string{
	".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".config/github-copilot/hosts.json", ".config/github-copilot/apps.json",
	".copilot/config.json", ".local/share/opencode/auth.json", ".local/share/amp/secrets.json", ".qwen/oauth_creds.json", ".aider.conf.yml", ".continue/config.json",
	".config/goose/secrets.yaml", ".cursor/mcp.json", ".codeium/config.json", ".factory/auth.json", ".config/openai/api_key", ".huggingface/token", ".cache/huggingface/token",
	".cache/huggingface/stored_tokens", ".kaggle/kaggle.json", ".config/io.datasette.llm/keys.json", ".ollama/id_ed25519",
	".ssh/id_ed25519", ".gnupg/private-keys-v1.d/a.key", ".aws/credentials", ".azure/msal_token_cache.json", ".kube/config", ".config/gcloud/credentials.db",
	".config/gcloud/application_default_credentials.json", ".oci/config", ".config/doctl/config.yaml", ".config/hcloud/cli.toml", ".fly/config.yml", ".railway/config.json",
	".config/heroku/token", ".config/netlify/config.json", ".config/.wrangler/config/default.toml", ".pulumi/credentials.json", ".terraform.d/credentials.tfrc.json", ".terraformrc",
	".vault-token", ".databrickscfg", ".snowflake/config.toml", ".config/stripe/config.toml", ".sentryclirc", ".config/configstore/firebase-tools.json", ".s3cfg", ".boto",
	".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", ".config/glab-cli/config.yml", ".config/hub", ".docker/config.json", ".config/containers/auth.json",
	".config/helm/registry/config.json", ".npmrc", ".config/pnpm/rc", ".yarnrc.yml", ".bunfig.toml", ".pypirc", ".config/pypoetry/auth.toml", ".cargo/credentials.toml",
	".cargo/credentials", ".gem/credentials", ".local/share/gem/credentials", ".m2/settings-security.xml", ".gradle/gradle.properties", ".ivy2/.credentials", ".sbt/1.0/credentials.sbt",
	".config/coursier/credentials.properties", ".composer/auth.json", ".config/composer/auth.json", ".hex/hex.config", ".nimble/github_api_token", ".luarocks/upload_config.lua",
	".config/dart/pub-credentials.json", ".conan2/credentials.json", ".platformio/appstate.json", ".opam/plugins/opam-publish/token", ".Renviron", ".julia/servers/pkg/auth.toml",
	".nvm/versions/node/v20.0.0/etc/npmrc", ".local/share/mise/installs/node/20/etc/npmrc", ".dotnet/corefx/cryptography/x509stores/my/a.pfx", ".microsoft/usersecrets/a/secrets.json",
	".netrc", ".authinfo", ".pgpass", ".my.cnf", ".config/op/config", ".local/share/keyrings/login.keyring", ".password-store/a.gpg", ".config/sops/age/keys.txt",
	".bash_history", ".zsh_history", ".psql_history", ".local/share/fish/fish_history", ".mozilla/firefox/a/logins.json", ".config/google-chrome/Default/Cookies",
	".thunderbird/a/key4.db", ".config/Code/User/globalStorage/state.vscdb", ".jupyter/jupyter_server_config.json", ".local/share/jupyter/runtime/a.json",
}

// write makes files beneath a directory, with their directories.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll is a command that prints the names of the files that it can read.
func readAll(names []string) string {
	return `while IFS= read -r f; do { read -r line < "$D/home/$f"; } 2>/dev/null; case $line in *canary*) echo "$f";; esac; line=; done <<'END'
` + strings.Join(names, "\n") + "\nEND\n"
}

// No credential of the home is read, whether the home is hidden or, under bubblewrap, the
// session works in it.
func TestHome_Tokens(t *testing.T) {
	if len(tokenFiles) < 100 {
		t.Fatalf("%d token files", len(tokenFiles))
	}
	files := map[string]string{}
	for _, name := range tokenFiles {
		files[name] = "canary-token\n"
	}
	seen := func(g *fixture) []string {
		out, _ := g.run(t, readAll(tokenFiles))
		return strings.Fields(out)
	}
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			g := newFixture(t, kind)
			write(t, g.home, files)
			if got := seen(g); len(got) > 0 {
				t.Errorf("read: %q", got)
			}
			if kind == Landlock {
				return // it cannot take away beneath a directory that may be written
			}
			g.request.Roots, g.request.Writable = []string{g.home}, []string{g.home}
			inHome := slices.DeleteFunc(seen(g), func(name string) bool { return slices.Contains(atRest, name) })
			if len(inHome) > 0 {
				t.Errorf("read in a home that is the session's directory: %q", inHome)
			}
		})
	}
	t.Run("none", func(t *testing.T) { // the command itself finds them
		g := newFixture(t, None)
		write(t, g.home, files)
		if got := seen(g); len(got) != len(tokenFiles) {
			t.Errorf("read %d of %d", len(got), len(tokenFiles))
		}
	})
}

// atRest are credentials that only the allow-list keeps from a command.
var atRest = []string{
	".opam/plugins/opam-publish/token", ".nvm/versions/node/v20.0.0/etc/npmrc", ".local/share/mise/installs/node/20/etc/npmrc",
	".dotnet/corefx/cryptography/x509stores/my/a.pfx",
}

// A name that nothing knows of is hidden, whatever it is; what toolchains need is not.
func TestHome(t *testing.T) {
	const secretLine = "[http]\n\textraheader = AUTHORIZATION: basic canary\n"
	files := map[string]string{
		"notes/diary": "canary", ".newagent/oauth.json": "canary", ".config/unknown/token": "canary", ".local/share/unknown/key": "canary", ".cache/unknown/x": "canary",
		".cargo/bin/tool": "shown", ".cargo/registry/src/a": "shown", ".rustup/toolchains/a": "shown", "go/pkg/mod/a": "shown", ".nvm/versions/node/v20.0.0/bin/node": "shown",
		".m2/repository/a": "shown", ".local/share/pnpm/store/a": "shown", ".cache/ms-playwright/a": "shown", ".gem/ruby/3.1.0/a": "shown", "perl5/lib/a": "shown",
		".claude/skills/a/run.sh": "shown", ".tool-versions": "shown", ".cargo/config.toml": "[build]\njobs = 2 # shown\n",
		".config/pip/pip.conf": "[global]\nindex-url = https://u:canary@example.com/simple\n",
		".m2/settings.xml":     "<settings><mirrors/><!-- shown --></settings>",
		"tools/flutter/bin/a":  "shown", "tools/flutter/lib/a": "shown", "tools/flutter/notes": "canary", "nvm here/versions/a": "shown",
		"data/rust/toolchains/a": "shown", "data/diary": "canary", "opened/file": "shown", "mono/.git/HEAD": "ref: refs/heads/shown\n", "mono/.git/objects/a": "shown", "mono/.git/refs/a": "shown", "mono/.env": "canary", "mono/other/.env.local": "canary", "mono/go.mod": "shown", "mono/app/main.go": "package main",
	}
	var shown, hidden []string
	for name, text := range files {
		if strings.Contains(text, "canary") {
			hidden = append(hidden, name)
		} else {
			shown = append(shown, name)
		}
	}
	slices.Sort(shown)
	cat := func(names []string) string {
		return `while IFS= read -r f; do [ -n "$(cat "$D/home/$f" 2>/dev/null)" ] && echo "$f"; done <<'END'
` + strings.Join(names, "\n") + "\nEND\n"
	}
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			write(t, g.home, files)
			for name, target := range map[string]string{".rbenv": "data/rust", ".local/share/mise": filepath.Join(g.home, "data", "rust")} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(g.home, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, filepath.Join(g.home, name)); err != nil {
					t.Fatal(err)
				}
			}
			g.box.Environ = []string{
				"PATH=" + filepath.Join(g.home, "tools/flutter/bin") + ":" + g.home + ":" + os.Getenv("PATH"),
				"NVM_DIR=" + filepath.Join(g.home, "nvm here"), "GOROOT=" + g.home, "GOMODCACHE=" + filepath.Join(g.home, ".config"), "JAVA_HOME=" + filepath.Join(g.home, ".ssh"),
				"RUSTUP_HOME=" + filepath.Dir(g.home),
			}
			g.request.Readable = append(g.request.Readable, filepath.Join(g.home, "opened"), filepath.Join(g.home, "absent"))
			g.request.Roots = append(g.request.Roots, filepath.Join(g.home, "mono/app"))
			g.request.Around = true
			if kind.HasView() {
				g.request.AroundSecrets = []string{filepath.Join(g.home, "mono/.env"), filepath.Join(g.home, "mono/other/.env.local")}
			} else { // which cannot hide them
				for _, name := range []string{"mono/.env", "mono/other/.env.local"} {
					if err := os.Remove(filepath.Join(g.home, name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if out, _ := g.run(t, cat(slices.Concat(shown, []string{".rbenv/toolchains/a", ".local/share/mise/toolchains/a"}))); len(strings.Split(strings.TrimSpace(out), "\n")) != len(shown)+2 {
				t.Errorf("of %q only these are seen:\n%s", shown, out)
			}
			if out, _ := g.run(t, cat(slices.Concat(hidden, []string{".ssh/id_ed25519", ".profile"}))); out != "" {
				t.Errorf("hidden, and seen:\n%s", out)
			}
			if out, code := g.run(t, `echo x > "$D/home/made" || mkdir "$D/home/.config/made" || echo x >> "$D/home/.cargo/config.toml"`); code == 0 {
				t.Errorf("written: %s", out)
			}
			write(t, g.home, map[string]string{".gitconfig": "[user]\n\tname = shown\n" + secretLine})
			if out, _ := g.run(t, `cat "$D/home/.gitconfig"; cat "$GIT_CONFIG_GLOBAL"`); !strings.Contains(out, "name = shown") || strings.Contains(out, "canary") {
				t.Errorf("git's settings: %s", out)
			}
		})
	}
}

// A home that cannot be hidden keeps the places of secrets masked.
func TestHome_NotHidden(t *testing.T) {
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			g := newFixture(t, kind)
			write(t, g.home, map[string]string{".codex/auth.json": "canary"})
			g.request.Readable = append(g.request.Readable, g.home)
			if out, code := g.run(t, `cat "$D/home/other/file"`); code != 0 || out != "other" {
				t.Errorf("a home that the configuration opens: exit code %d with %q", code, out)
			}
			if out, _ := g.run(t, `cat "$D/home/.codex/auth.json" "$D/home/.ssh/id_ed25519"`); strings.Contains(out, "canary") {
				t.Errorf("read: %q", out)
			}
		})
	}
}

// The data of a worktree is seen, and written as git does for a commit, if the repository says
// itself that it is one, and not because a file of the project leads somewhere.
func TestHome_Worktree(t *testing.T) {
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			g := newFixture(t, kind)
			tree := filepath.Join(g.home, "tree")
			data := filepath.Join(g.home, "main", ".git")
			write(t, g.home, map[string]string{
				"tree/.git": "gitdir: " + data + "/worktrees/tree\n", "main/.git/HEAD": "ref: refs/heads/main\n", "main/.git/objects/x": "", "main/.git/refs/x": "", "main/.git/worktrees/tree/HEAD": "ref: refs/heads/tree\n", "main/.git/worktrees/tree/gitdir": tree + "/.git\n",
				"main/.git/worktrees/tree/commondir": "../..\n", "main/file": "canary", "notes/commondir": "../..\n", "notes/gitdir": "elsewhere\n", "notes/config": "[core]\n\tworktree = ..\n",
			})
			g.project, g.request.Roots, g.request.Writable = tree, []string{tree}, []string{tree}
			if out, code := g.run(t, `cat ../main/.git/HEAD`); code != 0 || out != "ref: refs/heads/main\n" {
				t.Errorf("exit code %d with %q", code, out)
			}
			if out, code := g.run(t, `cat ../main/file`); code == 0 {
				t.Errorf("what lies beside the repository is read: %q", out)
			}
			for _, name := range []string{"objects/ab/c", "refs/heads/x", "logs/refs/heads/x"} {
				write(t, data, map[string]string{name: ""})
			}
			if out, code := g.run(t, `cd ../main/.git && echo x > objects/ab/d && echo x > refs/heads/x && echo x > logs/y && echo x > worktrees/tree/index.lock`); code != 0 {
				t.Errorf("a commit: exit code %d with %q", code, out)
			}
			for _, name := range []string{"config", "HEAD", "commondir", "hooks/pre-commit", "worktrees/other"} {
				if out, code := g.run(t, `mkdir -p ../main/.git/hooks; echo x > ../main/.git/`+name); code == 0 {
					t.Errorf("%s is written: %q", name, out)
				}
			}
			if kind.HasView() { // under Landlock they are put back
				for _, name := range []string{"commondir", "gitdir"} {
					if out, code := g.run(t, `cd ../main/.git/worktrees/tree && { echo x > `+name+` || mv `+name+` y || rm `+name+`; }`); code == 0 {
						t.Errorf("%s is changed: %q", name, out)
					}
				}
			}
			g.request.Reading = true
			if out, code := g.run(t, `echo x > ../main/.git/objects/ab/e`); code == 0 {
				t.Errorf("a command that is to read has written: %q", out)
			}
			g.request.Reading = false
			write(t, g.home, map[string]string{"tree/.git": "gitdir: " + filepath.Join(g.home, "notes") + "\n"})
			if out, code := g.run(t, `cat ../notes/gitdir`); code == 0 {
				t.Errorf("a project opened a directory: %q", out)
			}
		})
	}
}
