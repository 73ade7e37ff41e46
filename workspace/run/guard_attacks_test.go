package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/internal/testkit/worktest"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// TestGuard_Attacks is P5 against commands that try to keep a change of what other programs
// run from being found or from being put back.
func TestGuard_Attacks(t *testing.T) {
	t.Parallel()
	const evil = `printf '[core]\n\tfsmonitor = evil\n' >> `
	tests := []struct {
		name  string
		setup map[string]string // files; a text that starts with "-> " is a link
		cmd   string
		left  string // a file that must not say "evil", nor be there unless it was
		names int    // how many names one file has in the directory "names"
	}{
		{name: "a directory of very many names", names: 17_000, cmd: "mv names .vscode; echo evil > .vscode/tasks.json", left: ".vscode/tasks.json"},
		{name: "very many hooks", names: 17_000, cmd: "mv names .git/hooks; echo evil > .git/hooks/pre-commit", left: ".git/hooks/pre-commit"},
		{
			name: "very many directories", setup: map[string]string{"packages/app/sub/main.c": ""}, left: "packages/app/sub/.vscode/tasks.json",
			cmd: fmt.Sprintf("mkdir 0; cd 0; seq %d | xargs mkdir; cd ..; mkdir packages/app/sub/.vscode; echo evil > packages/app/sub/.vscode/tasks.json", testreq.Rounds(2000, 20_000)),
		},
		{name: "a directory that cannot be listed", cmd: "mkdir .vscode; echo evil > .vscode/tasks.json; chmod 311 .vscode", left: ".vscode/tasks.json"},
		{name: "one above it", cmd: "mkdir -p a/.vscode; echo evil > a/.vscode/tasks.json; chmod 311 a", left: "a/.vscode/tasks.json"},
		{name: "hooks that cannot be listed", cmd: "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; chmod 311 .git/hooks .git", left: ".git/hooks/pre-commit"},
		{name: "a directory that cannot be changed", cmd: "mkdir -p a/.vscode; echo evil > a/.vscode/tasks.json; chmod 555 a/.vscode a", left: "a/.vscode/tasks.json"},
		{name: "a link into packages", cmd: "mkdir -p node_modules/x/.vscode; echo evil > node_modules/x/.vscode/tasks.json; ln -s node_modules/x a", left: "a/.vscode/tasks.json"},
		{
			name: "a link to packages for a directory", setup: map[string]string{"a/main.c": ""},
			cmd: "mkdir -p node_modules/x/.vscode; echo evil > node_modules/x/.vscode/tasks.json; mv a b; ln -s node_modules/x a", left: "a/.vscode/tasks.json",
		},
		{name: "links that lead to each other", cmd: "mkdir -p node_modules/x/.vscode; ln -s ../../node_modules/x node_modules/x/y; ln -s node_modules/x a; echo evil > node_modules/x/.vscode/tasks.json", left: "a/.vscode/tasks.json"},
		{name: "what a protected link leads to", setup: map[string]string{"CLAUDE.md": "-> docs/guide.md", "docs/guide.md": "fine"}, cmd: "echo evil > docs/guide.md", left: "docs/guide.md"},
		{name: "a directory that a protected link leads to", setup: map[string]string{".vscode": "-> conf", "conf/settings.json": "fine"}, cmd: "echo evil > conf/tasks.json", left: "conf/tasks.json"},
		{name: "a submodule with a longer name", setup: map[string]string{".git/modules/libs/foo/HEAD": "ref", ".git/modules/libs/foo/config": ""}, cmd: evil + ".git/modules/libs/foo/config", left: ".git/modules/libs/foo/config"},
		{name: "hooks of a submodule of a submodule", setup: map[string]string{".git/modules/a/HEAD": "ref", ".git/modules/a/modules/b/HEAD": "ref"}, cmd: "mkdir .git/modules/a/modules/b/hooks; echo evil > .git/modules/a/modules/b/hooks/post-checkout", left: ".git/modules/a/modules/b/hooks/post-checkout"},
		{name: "a new submodule", cmd: "mkdir -p .git/modules/a; echo ref > .git/modules/a/HEAD; " + evil + ".git/modules/a/config", left: ".git/modules/a/config"},
		{name: "where a working tree has its configuration", setup: map[string]string{".git/worktrees/w/commondir": "../.."}, cmd: "echo evil > .git/worktrees/w/commondir", left: ".git/worktrees/w/commondir"},
		{name: "the configuration of a working tree", setup: map[string]string{".git/worktrees/w/commondir": "../.."}, cmd: evil + ".git/worktrees/w/config.worktree", left: ".git/worktrees/w/config.worktree"},
		{name: "hooks that lie elsewhere", setup: map[string]string{".git/config": "[core]\n\thooksPath = scripts/hooks\n", "scripts/hooks/commit-msg": "fine"}, cmd: "echo evil > scripts/hooks/pre-commit", left: "scripts/hooks/pre-commit"},
		{name: "what the configuration includes", setup: map[string]string{".git/config": "[include]\n\tpath = ../shared.cfg\n", "shared.cfg": ""}, cmd: evil + "shared.cfg", left: "shared.cfg"},
		{name: "a directory that is a repository", setup: map[string]string{"src/main.c": ""}, cmd: "cd src; echo ref > HEAD; mkdir objects refs; " + evil + "config", left: "src/config"},
		{name: "one whose data lies elsewhere", setup: map[string]string{"src/main.c": ""}, cmd: "cd src; echo ref > HEAD; echo ../x > commondir", left: "src/commondir"},
		{name: "the project as a repository without the name", cmd: "mv .git g; echo ref > HEAD; mkdir objects refs; " + evil + "config", left: "config"},
		{name: "a rebase that stopped", cmd: "mkdir .git/rebase-merge; printf 'pick 1234567 x\n\texec evil\n' > .git/rebase-merge/git-rebase-todo", left: ".git/rebase-merge/git-rebase-todo"},
		{
			name: "a command in a rebase that stopped", setup: map[string]string{".git/rebase-merge/git-rebase-todo": "pick 1234567 x\nexec make test\n"},
			cmd: "echo 'x evil' >> .git/rebase-merge/git-rebase-todo", left: ".git/rebase-merge/git-rebase-todo",
		},
		{
			name: "the strategy of a rebase that stopped", left: ".git/rebase-merge/strategy",
			cmd: "mkdir .git/rebase-merge git-merge-..; echo pick 1234567 x > .git/rebase-merge/git-rebase-todo; echo ../../evil > .git/rebase-merge/strategy; echo hi > evil; chmod +x evil",
		},
		{name: "the rebase of a working tree", setup: map[string]string{".git/worktrees/w/commondir": "../.."}, cmd: "mkdir .git/worktrees/w/rebase-merge; echo exec evil > .git/worktrees/w/rebase-merge/git-rebase-todo", left: ".git/worktrees/w/rebase-merge/git-rebase-todo"},
		{
			name: "the strategy of several commits that are picked", left: ".git/sequencer/opts",
			cmd: "mkdir .git/sequencer git-merge-..; echo pick 1234567 x > .git/sequencer/todo; printf '[options]\\n\\tstrategy = ../../evil\\n' > .git/sequencer/opts",
		},
		{
			name: "a repository among packages, which git status enters once it is in the index", left: "node_modules/x/.git/config",
			cmd: "mkdir -p node_modules/x/.git/objects; echo ref > node_modules/x/.git/HEAD; " + evil + "node_modules/x/.git/config",
		},
		{
			name: "one that was there", setup: map[string]string{"node_modules/x/.git/HEAD": "ref", "node_modules/x/.git/config": ""}, left: "node_modules/x/.git/config",
			cmd: evil + "node_modules/x/.git/config",
		},
		{
			name: "one in a protected directory of a package", left: "node_modules/.vscode/x/.git/config",
			cmd: "mkdir -p node_modules/.vscode/x/.git/objects; echo ref > node_modules/.vscode/x/.git/HEAD; " + evil + "node_modules/.vscode/x/.git/config",
		},
		{name: "a package whose repository lies elsewhere", cmd: "mkdir -p node_modules/x; echo gitdir: evil > node_modules/x/.git", left: "node_modules/x/.git"},
		{name: "a file in the place of the repository", cmd: "mv .git g; echo gitdir: /tmp/evil > .git", left: ".git"},
		{name: "a link in the place of the repository", cmd: "mv .git g; ln -s /tmp/evil .git", left: ".git"},
		{name: "a transport that is a program", cmd: "printf '[protocol \"ext\"]\\n\\tallow = always # evil\\n' >> .git/config", left: ".git/config"},
		{name: "a rebase that starts with commands in its list", cmd: "printf '[rebase]\\n\\tinstructionFormat = %%s%%nexec evil\\n' >> .git/config", left: ".git/config"},
		{name: "a graphical tool", cmd: "printf '[diff]\\n\\tguitool = ../../../w/evil\\n' >> .git/config", left: ".git/config"},
		{
			name: "one of many settings", setup: map[string]string{".claude/settings.json": "fine"},
			cmd: "echo evil > .claude/settings.json", left: ".claude/settings.json",
		},
	}
	for _, tt := range testreq.Pick(len(tests)/3, tests) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, protecting)
			worktest.Put(t, g.In(".git/HEAD"), "ref")
			for name, text := range tt.setup {
				target, link := strings.CutPrefix(text, "-> ")
				if !link {
					worktest.Put(t, g.In(name), text)
				} else if err := os.Symlink(target, g.In(name)); err != nil {
					t.Fatal(err)
				}
			}
			if tt.name == "one of many settings" {
				for i := range run.MaxGuardedFiles {
					worktest.Put(t, g.In(fmt.Sprintf(".claude/commands/%d.md", i)), "fine")
				}
			}
			worktest.Names(t, g.In("names"), tt.names)
			t.Cleanup(func() { // so that the test's directory can be removed
				for _, dir := range []string{"a", "a/.vscode"} {
					_ = os.Chmod(g.In(dir), 0o755)
				}
			})
			before, had := tt.setup[tt.left]
			call := g.Start(t)
			call.Commands().Grant(run.Grant{Unasked: true})
			exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: tt.cmd}, nil)
			if err != nil || exit.Code != 0 || len(exit.Notes) == 0 || len(exit.Notes) > run.MaxGuardNotes+1 {
				t.Fatalf("%+v, %v", exit, err)
			}
			if had {
				worktest.Same(t, "what was put back", worktest.Get(t, g.In(tt.left)), before)
			} else if _, err := os.Lstat(g.In(tt.left)); err == nil {
				t.Errorf("%s is there; notes %q", tt.left, exit.Notes)
			}
		})
	}
}

// A rebase with commands in it goes on where the user was asked about the command that began it,
// and so does one without commands that runs unasked (P5).
func TestGuard_Rebase(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cmd     string
		unasked bool
	}{
		"with commands, asked":      {`git rebase -q -x false HEAD~1`, false},
		"without commands, unasked": {`GIT_SEQUENCE_EDITOR="sed -i s/pick/edit/" git rebase -q -i HEAD~1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, protecting)
			call := g.Start(t)
			call.Commands().Grant(run.Grant{Unasked: tt.unasked, GitConfig: !tt.unasked})
			const commit = "git -c user.name=n -c user.email=e commit -q --allow-empty -m "
			exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: "git init -q; " + commit + "a; " + commit + "b; " + tt.cmd + "; ls .git/rebase-merge"}, nil)
			if err != nil || exit.Code != 0 {
				t.Fatalf("%+v, %v", exit, err)
			}
			if _, err := os.Lstat(g.In(".git/rebase-merge/git-rebase-todo")); err != nil {
				t.Errorf("%v; notes %q", err, exit.Notes)
			}
		})
	}
}

// What was moved aside is not held in memory beyond what a card shows.
func TestAside_LargeTextsAreNotHeld(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, protecting)
	call := g.Start(t)
	call.Commands().Grant(run.Grant{Unasked: true})
	exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: "mkdir .vscode; head -c 200000 /dev/zero > x; for i in 1 2 3; do ln x .vscode/$i; done"}, nil)
	if err != nil || exit.Code != 0 || len(call.Commands().MovedAside()) != 3 {
		t.Fatal(exit, err, len(call.Commands().MovedAside()))
	}
	for _, a := range call.Commands().MovedAside() {
		if a.Text || a.After != "" {
			t.Errorf("%s holds %d bytes", a.Path, len(a.After))
		}
	}
}

// TestHoldersOf: each directory between a root and a secret in it.
func TestHoldersOf(t *testing.T) {
	t.Parallel()
	root := filepath.FromSlash("/w")
	got := run.HoldersOf([]string{filepath.FromSlash("/w/.env"), filepath.FromSlash("/w/a/b/.env"), filepath.FromSlash("/w/a/prod.env"), filepath.FromSlash("/wx/a/.env")}, []string{root})
	if text := filepath.ToSlash(strings.Join(got, " ")); text != "/w/a/b /w/a" {
		t.Error(text)
	}
}
