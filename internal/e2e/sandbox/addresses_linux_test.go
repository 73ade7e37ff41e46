package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddresses_AnyRepository has a password in the address of a remote in each place in which git keeps one, of a nested
// repository, a submodule, and one without a working tree, in the project and in an opened directory: no command that runs
// unasked, because it only reads, prints it in a form in which it is not found.
func TestAddresses_AnyRepository(t *testing.T) {
	t.Parallel()
	const address = "https://jo:canary-password@git.example/x\n"
	const holds, plain, log = "[remote \"o\"]\n\turl = " + address, "[core]\n\tbare = false\n", "x pull " + address
	files := map[string]string{}
	for _, top := range []string{"", "/home/other/"} {
		for name, text := range map[string]string{
			".git/": plain, "sub/.git/": holds, ".git/modules/a/b/": holds, "mirror/": holds, "mirror.git/": holds,
		} {
			files[top+name+"config"], files[top+name+"HEAD"] = text, "ref: refs/heads/main\n"
			files[top+name+"refs/x"], files[top+name+"objects/x"] = "", ""
		}
		files[top+"a.txt"], files[top+".gitmodules"], files[top+".git/logs/HEAD"], files[top+".git/config.worktree"] = "canary-open\n", holds, log, holds
	}
	commands := map[string]string{"open": "cat ~/other/a.txt"}
	for name, dir := range map[string]string{"project": ".", "opened": "~/other"} {
		for kind, text := range map[string]string{
			"nested": "sub/.git/config", "submodule": ".git/modules/a/b/config", "mirror": "mirror/config", "log": ".git/logs/HEAD", "worktree": ".git/config.worktree", "modules": ".gitmodules",
		} {
			commands[name+" "+kind] = "cd " + dir + " && rev $(echo " + text + ")"
		}
		commands[name+" tree"] = "cd " + dir + " && grep -rh canary . | rev"
		commands[name+" found"] = "cd " + dir + " && find . -name config -type f | xargs rev"
		commands[name+" bare"] = "cd " + dir + " && rev mirror/config"
	}
	for _, level := range []string{"bubblewrap", "namespaces", "landlock"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := startConfined(t, level, "", commands, files)
			w.answers("allow_always")
			w.run(t, "open")
			w.answers("reject")
			for name := range commands {
				text := w.run(t, name)
				if strings.Contains(text, "drowssap-yranac") {
					t.Errorf("%s: %s", name, text)
				}
				if strings.HasSuffix(name, " tree") && (level != "landlock" || strings.HasPrefix(name, "project")) && !strings.Contains(text, "nepo-yranac") {
					t.Errorf("%s sees nothing: %s", name, text)
				}
			}
		})
	}
}

// TestAddresses_Around is a session in a subdirectory of a repository: what lies around it is shown to commands, but for these.
func TestAddresses_Around(t *testing.T) {
	t.Parallel()
	const holds = "[remote \"o\"]\n\turl = https://jo:canary-password@git.example/x\n"
	w := startConfined(t, "bubblewrap", "", map[string]string{
		"modules": "rev $(echo ../.gitmodules)", "nested": "rev $(echo ../peer/.git/config)", "submodule": "rev $(echo ../.git/modules/m/config)", "plain": "rev $(echo ../a.txt)",
	}, nil)
	repo := filepath.Join(w.home, "repo")
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tbare = false\n", ".git/refs/x": "", ".git/objects/x": "", ".gitmodules": holds, "a.txt": "canary-open",
		"peer/.git/HEAD": "ref: refs/heads/main\n", "peer/.git/objects/x": "", "peer/.git/config": holds, ".git/modules/m/HEAD": "", ".git/modules/m/config": holds, "work/a": "",
	} {
		path := filepath.Join(repo, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	w.Session = w.NewSession(filepath.Join(repo, "work"))
	w.answers("reject")
	for _, name := range []string{"modules", "nested", "submodule"} {
		if text := w.run(t, name); strings.Contains(text, "drowssap-yranac") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := w.run(t, "plain"); !strings.Contains(text, "nepo-yranac") {
		t.Errorf("an ordinary file around: %s", text)
	}
}
