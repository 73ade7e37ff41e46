package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEgress_GitHubLogin is gh, in whose place a script stands that says which token it has: the user is asked about the login
// before the command starts, and commands that are not gh have none.
func TestEgress_GitHubLogin(t *testing.T) {
	t.Parallel()
	const token = "gho_canary0123456789canary0123456789ab"
	bin := t.TempDir()
	// As gh pr merge does without a number, it asks git for the last commit.
	script := "#!/bin/bash\n[ \"$2\" = view ] && git show -s HEAD\nif [ \"$1 $2\" = 'auth token' ]; then [ \"$4\" = github.com ] && echo " + token + "; exit; fi\n" +
		"[ \"$GH_TOKEN\" = \"$(printf '%s' gho_canary0123456789canary 0123456789ab)\" ] && echo logged in || echo logged out\necho \"$GH_TOKEN\"\n"
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	const partial = "\trepositoryformatversion = 1\n\tsshCommand = echo RAN >&2; false\n[extensions]\n\tpartialClone = x\n[remote \"x\"]\n\tpromisor = true\n\turl = ssh://git@x.invalid/a/b\n"
	w := startConfined(t, "bubblewrap", "", map[string]string{
		"pr": "gh auth status; gh pr list | cat", "env": "bash -c 'echo token=$GH_TOKEN.'", "version": "gh --version", "script": "gh pr list; ./x.sh", "here": "./gh pr list", "path": "PATH=$PWD:$PATH gh pr list", "words": "echo list | xargs gh pr", "git": "gh pr create --title x --body y", "partial": "cd docs/x && gh pr view", "worktree": "cd sub && gh pr view",
	}, map[string]string{
		// The commit is missing, and git would fetch it by the program that the repository names. A bare repository is ordinary files.
		"docs/x/HEAD": "ref: refs/heads/main\n", "docs/x/refs/heads/main": strings.Repeat("1", 40) + "\n", "docs/x/objects/keep": "", "docs/x/config": "[core]\n\tbare = true\n" + partial,
		"sub/.git/HEAD": "ref: refs/heads/main\n", "sub/.git/refs/heads/main": strings.Repeat("1", 40) + "\n", "sub/.git/objects/keep": "", "sub/.git/config": "[core]\n\tbare = false\n" + partial,
		"x.sh": "#!/bin/bash\necho token=$GH_TOKEN.\n", "gh": "#!/bin/bash\necho token=$GH_TOKEN.\n",
	}, "PATH="+bin+":"+os.Getenv("PATH"))
	w.refuses("gh in the command logs in to github.com")
	if text := w.run(t, "pr"); !strings.Contains(text, "logged out") {
		t.Errorf("refused: %s", text)
	}
	w.refuses("")
	if text := w.run(t, "pr"); !strings.Contains(text, "logged in") || strings.Contains(text, token) {
		t.Errorf("allowed: %s", text)
	}
	if card := w.card(); !strings.Contains(card, "the login that your gh keeps for it goes to the command") {
		t.Errorf("the card is %s", card)
	}
	if text := w.run(t, "env"); !strings.Contains(text, "token=.") {
		t.Errorf("another command: %s", text)
	}
	for _, name := range []string{"script", "here", "path", "words"} {
		if text := w.run(t, name); !strings.Contains(text, "token=.") && name != "words" || strings.Contains(text, "logged in") || !strings.Contains(text, "Run gh by itself") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := w.run(t, "git"); !strings.Contains(text, "logged out") || !strings.Contains(text, "starts git") || !strings.Contains(text, "gh api repos/OWNER/REPO/pulls") {
		t.Errorf("gh that starts git: %s", text)
	}
	for _, name := range []string{"partial", "worktree"} {
		if text := w.run(t, name); strings.Contains(text, "RAN") || !strings.Contains(text, "logged in") {
			t.Errorf("git that gh starts in a partial clone: %s", text)
		}
	}
	cards := len(w.cards)
	if w.run(t, "version"); strings.Contains(strings.Join(w.cards[cards:], ""), "logs in") {
		t.Errorf("asked about the login for --version: %s", w.card())
	}
}

// A link on the PATH of the user's that leads into the project would let it choose what runs with the login.
func TestEgress_GitHubLoginLinks(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"gh": "gh", "git": "git", "ssh": "not-there-yet"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, links := t.TempDir(), t.TempDir()
			script := "#!/bin/bash\n[ \"$1 $2\" = 'auth token' ] && echo gho_canary0123456789canary0123456789ab && exit\ngit x; echo token=$GH_TOKEN.\n"
			if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			own := "#!/bin/bash\necho own=$GH_TOKEN.\n"
			w := startConfined(t, "bubblewrap", "", map[string]string{"pr": "gh pr list"}, map[string]string{"gh": own, "git": own}, "PATH="+links+":"+bin+":"+os.Getenv("PATH"))
			if err := os.Symlink(filepath.Join(w.project, target), filepath.Join(links, name)); err != nil {
				t.Fatal(err)
			}
			if text := w.run(t, "pr"); strings.Contains(text, "[redacted]") || strings.Contains(text, "gho_") || !strings.Contains(text, "because "+name+" on the PATH") {
				t.Errorf("%s", text)
			}
		})
	}
}

// The card says which repository gh is for where the command does not, and gh is for that one, whatever the
// configuration says by then.
func TestEgress_GitHubLoginRepository(t *testing.T) {
	t.Parallel()
	const remote = "[remote \"origin\"]\n\turl = git@github.com:owner/name.git\n"
	bin := t.TempDir()
	script := "#!/bin/bash\n[ \"$1 $2\" = 'auth token' ] && echo gho_canary0123456789canary0123456789ab && exit\necho repo=$GH_REPO.\n"
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := startConfined(t, "bubblewrap", "", map[string]string{
		"here": "gh pr comment 7 --body x", "named": "gh pr comment 7 --body x -R a/b", "nested": "cd sub && gh pr comment 7 --body x", "moved": "gh pr view 7; cd sub; gh pr comment 7 --body x",
	}, map[string]string{".git/config": "[core]\n\tbare = false\n" + remote, "sub/.git/HEAD": "ref: refs/heads/main\n", "sub/.git/objects/x": "", "sub/.git/refs/x": "", "sub/.git/config": "[remote \"x\"]\n\turl = https://github.com/other/repo\n"}, "PATH="+bin+":"+os.Getenv("PATH"))
	if text := w.run(t, "here"); !strings.Contains(text, "repo=github.com/owner/name.") || !strings.Contains(w.card(), "logs in to github.com, and acts in owner/name;") {
		t.Errorf("the only remote: %s\n%s", text, w.card())
	}
	if text := w.run(t, "named"); !strings.Contains(text, "repo=.") || strings.Contains(w.card(), "owner/name") {
		t.Errorf("named in the command: %s\n%s", text, w.card())
	}
	if text := w.run(t, "nested"); !strings.Contains(text, "repo=github.com/other/repo.") || !strings.Contains(w.card(), "and acts in other/repo;") {
		t.Errorf("a repository in the project: %s\n%s", text, w.card())
	}
	const unknown = "in a repository that is not known"
	if text := w.run(t, "moved"); !strings.Contains(text, "repo=.") || !strings.Contains(w.card(), unknown) {
		t.Errorf("another directory: %s\n%s", text, w.card())
	}
	config := filepath.Join(w.project, ".git", "config")
	if err := os.WriteFile(config, []byte(remote+"[remote \"fork\"]\n\turl = https://github.com/c/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := w.run(t, "here"); !strings.Contains(text, "repo=.") || !strings.Contains(w.card(), unknown) {
		t.Errorf("two remotes: %s\n%s", text, w.card())
	}
}
