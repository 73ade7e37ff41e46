package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/internal/testkit/worktest"
	"acp-agent/internal/textcut"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// TestGuard is S3 where no sandbox keeps a command from a repository: what could make
// git, or the agent, run a program is put back and reported; everything else stays.
func TestGuard(t *testing.T) {
	const config = "[core]\n\tbare = false\n\tpager = less\n"
	tests := []struct {
		name, cmd string
		note      string // in the only note; empty for none
		config    string // afterwards; empty for unchanged
		kept      bool   // what the command left beside stays: the file "stays"
	}{
		{name: "nothing", cmd: "true"},
		{name: "a remote", cmd: `printf '[remote "o"]\n\turl = x\n' >> .git/config`, config: config + "[remote \"o\"]\n\turl = x\n"},
		{name: "a program", cmd: `printf '[core]\n\tfsmonitor = evil\n' >> .git/config`, note: "core.fsmonitor"},
		{name: "another pager", cmd: "sed -i.bak s/less/evil/ .git/config", note: "core.pager"},
		{name: "an alias", cmd: `printf '[alias]\n\tst = !evil\n' >> .git/config`, note: "alias.st"},
		{name: "an include", cmd: `printf '[include]\n\tpath = /tmp/x\n' >> .git/config`, note: "include.path"},
		{name: "nonsense", cmd: `printf '[core\n' >> .git/config`, note: "not understood"},
		{name: "a link in its place", cmd: "mv .git/config .git/c && ln -s c .git/config", note: "replaced"},
		{name: "a link out in place of the repository", cmd: "mv .git g && ln -s .. .git", note: "replaced by a link"},
		{name: "deleted", cmd: "rm -r .git"},
		{name: "a new hook", cmd: "mkdir -p .git/hooks && echo evil > .git/hooks/pre-push", note: "pre-push was moved aside"},
		{name: "a changed hook", cmd: "echo evil > .git/hooks/commit-msg", note: "commit-msg was put back"},
		{name: "a deleted configuration", cmd: "rm .git/config", note: "config was put back"},
		{name: "a deleted hook", cmd: "rm .git/hooks/commit-msg", note: "commit-msg was put back"},
		{name: "very many hooks", cmd: "mkdir -p .git/hooks && for i in $(seq 300); do : > .git/hooks/a$i; done; echo evil > .git/hooks/pre-push", note: "pre-push was moved aside"},
		{name: "a repository that is elsewhere", cmd: "echo ../work > .git/commondir", note: "commondir was moved aside"},
		{name: "a file that says where a repository is", cmd: "echo gitdir: ../work > linked/.git", note: filepath.Join("linked", ".git") + " was put back"},
		{name: "a link for a file", cmd: "ln -sf ../work linked/.git", note: filepath.Join("linked", ".git") + " was put back"},
		{name: "a directory for a file", cmd: "rm linked/.git && mkdir linked/.git", note: "replaced by a directory"},
		{name: "one of many skills", cmd: "rm .agents/skills/many/1", note: filepath.Join("many", "1") + " was put back"},
		{name: "a sample", cmd: "echo x > .git/hooks/x.sample"},
		{name: "a repository within", cmd: `printf '[core]\n\tsshCommand = evil\n' >> sub/.git/config`, note: filepath.Join("sub", ".git", "config")},
		{name: "our configuration", cmd: "mkdir .acp-agent && echo '{}' > .acp-agent/config.jsonc", note: "config.jsonc was moved aside"},
		{name: "a skill", cmd: "echo evil >> .agents/skills/a/SKILL.md", note: "SKILL.md was put back"},
		{name: "a link in place of the hooks", cmd: "rm -r .git/hooks && ln -s ../work .git/hooks", note: "hooks was moved aside"},
		{name: "a link in place of ours", cmd: "ln -s work .acp-agent", note: ".acp-agent was moved aside"},
		{name: "a hook that may run now", cmd: "chmod +x .git/hooks/commit-msg", note: "commit-msg was put back"},
		{name: "a hook that is a link", cmd: "ln -sf ../../work/precious .git/hooks/linked", note: "linked was put back"},
		{name: "a large hook", cmd: "echo more >> .git/hooks/large", note: "cannot be put back"},
		{name: "anything else", cmd: "echo x > stays", kept: true},
	}
	for _, tt := range testreq.Pick(len(tests)/3, tests) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, func(o *workspace.Options) { o.Commands.GitPrograms = command.GitConfigSettings })
			for name, text := range map[string]string{
				".git/HEAD": "ref", ".git/config": config, ".git/hooks/commit-msg": "hook", "sub/.git/HEAD": "ref", "sub/.git/config": "",
				".agents/skills/a/SKILL.md": "skill", "work/precious": "work", "linked/.git": "gitdir: ../.git/modules/linked\n",
			} {
				if err := os.MkdirAll(filepath.Dir(g.In(name)), 0o755); err != nil {
					t.Fatal(err)
				}
				worktest.Put(t, g.In(name), text)
			}
			if err := os.Symlink("../../hook", g.In(".git/hooks/linked")); err != nil {
				t.Fatal(err)
			}
			worktest.Put(t, g.In(".git/hooks/large"), strings.Repeat("x", run.MaxGuardedBytes+1))
			many := g.In(".agents/skills/many")
			worktest.Names(t, many, run.MaxGuardedFiles+49)
			worktest.Put(t, filepath.Join(many, "1"), "")
			exit, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: tt.cmd}, nil)
			if err != nil || exit.Code != 0 {
				t.Fatal(exit, err)
			}
			if left, err := os.ReadDir(many); len(left) != run.MaxGuardedFiles+50 {
				t.Errorf("%d of many files are left: %v", len(left), err)
			}
			switch {
			case tt.note == "" && len(exit.Notes) > 0, tt.note != "" && len(exit.Notes) == 0:
				t.Fatalf("notes %q", exit.Notes)
			case tt.note != "" && !strings.Contains(strings.Join(exit.Notes, "\n"), tt.note):
				t.Errorf("notes %q, want one of %q", exit.Notes, tt.note)
			}
			if _, err := os.Lstat(g.In("stays")); (err == nil) != tt.kept {
				t.Errorf("what the command left: %v", err)
			}
			if tt.name == "deleted" || strings.Contains(tt.name, "link out") {
				return
			}
			want := config
			if tt.config != "" {
				want = tt.config
			}
			worktest.Same(t, "the configuration", worktest.Get(t, g.In(".git/config")), want)
			worktest.Same(t, "the hook", worktest.Get(t, g.In(".git/hooks/commit-msg")), "hook")
			worktest.Same(t, "the skill", worktest.Get(t, g.In(".agents/skills/a/SKILL.md")), "skill")
			if to, err := os.Readlink(g.In(".git/hooks/linked")); to != "../../hook" {
				t.Errorf("the hook that is a link leads to %q: %v", to, err)
			}
			if info, err := os.Lstat(g.In(".git/hooks/large")); !strings.HasPrefix(tt.cmd, "rm -r .git/hooks") && (err != nil || info.Size() <= run.MaxGuardedBytes) {
				t.Errorf("the large hook: %v, %v", info, err)
			}
			worktest.Same(t, "what a link led to", worktest.Get(t, g.In("work/precious")), "work")
			worktest.Same(t, "the one within", worktest.Get(t, g.In("sub/.git/config")), "")
		})
	}
}

// A repository that a session's directory belongs to, and that lies outside of it, is kept from
// commands as one inside is, for git writes there.
func TestGuard_OuterRepository(t *testing.T) {
	for name, tt := range map[string]struct{ cmd, note, file, want string }{
		"nothing":          {"echo x > ../.git/index.lock", "", "index.lock", "x\n"},
		"a program":        {`printf '[alias]\n\tst = !evil\n' >> ../.git/config`, "alias.st", "config", "[core]\n"},
		"a hook":           {"echo evil > ../.git/hooks/pre-push", "pre-push was moved aside", "hooks/pre-push", ""},
		"another place":    {"echo ../evil > ../.git/commondir", "commondir was moved aside", "commondir", ""},
		"a log elsewhere":  {"mkdir ../.git/logs && ln -s ../../startup ../.git/logs/HEAD", "HEAD was moved aside", "logs/HEAD", ""},
		"a message":        {"ln -s ../startup ../.git/COMMIT_EDITMSG", "COMMIT_EDITMSG was moved aside", "COMMIT_EDITMSG", ""},
		"a commit's log":   {"mkdir ../.git/logs && echo x > ../.git/logs/HEAD", "", "logs/HEAD", "x\n"},
		"another worktree": {"echo evil > ../.git/worktrees/other/commondir", "commondir was put back", "worktrees/other/commondir", "../..\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, func(o *workspace.Options) { o.Commands.GitPrograms = command.GitConfigSettings })
			repo := filepath.Join(filepath.Dir(g.Cwd), ".git")
			for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "", "config": "[core]\n", "hooks/x.sample": "", "worktrees/other/HEAD": "ref", "worktrees/other/commondir": "../..\n"} {
				worktest.Put(t, filepath.Join(repo, name), text)
			}
			call := g.Start(t)
			call.Commands().Grant(run.Grant{Unasked: true})
			exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: tt.cmd}, nil)
			if err != nil || exit.Code != 0 {
				t.Fatal(exit, err)
			}
			if notes := strings.Join(exit.Notes, "\n"); (tt.note == "") != (notes == "") || !strings.Contains(notes, tt.note) {
				t.Errorf("notes %q, want one of %q", notes, tt.note)
			}
			text, _ := os.ReadFile(filepath.Join(repo, tt.file))
			worktest.Same(t, tt.file, string(text), tt.want)
		})
	}
}

// A link that leads out of the session is never followed to put something back.
func TestGuard_FollowsNoLinkOut(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.GitPrograms = command.GitConfigSettings })
	for _, dir := range []string{g.In(".git"), filepath.Join(g.Outside, "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	worktest.Put(t, g.In(".git/config"), "[core]\n")
	theirs := worktest.Put(t, filepath.Join(g.Outside, "config"), "[core]\n\tpager = theirs\n")
	hook := worktest.Put(t, filepath.Join(g.Outside, "hooks", "pre-push"), "theirs")
	exit, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "rm -r .git && ln -s ../workspace .git"}, nil)
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	if len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "link") {
		t.Errorf("notes %q", exit.Notes)
	}
	worktest.Same(t, "the configuration outside", worktest.Get(t, theirs), "[core]\n\tpager = theirs\n")
	worktest.Same(t, "the hook outside", worktest.Get(t, hook), "theirs")
}

// What a stopped command changed is put back too, and reported with the next one.
func TestGuard_Stopped(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.GitPrograms = command.GitConfigSettings })
	if err := os.Mkdir(g.In(".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	worktest.Put(t, g.In(".git/config"), "[core]\n")
	out := lockedBuffer{seen: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_, _ = g.Start(t).Processes().Run(ctx, tools.ShellCommand{Text: "printf '[core]\\n\\tpager = evil\\n' > .git/config; echo done; sleep 60"}, &out)
	}()
	<-out.seen
	cancel()
	<-returned
	if err := g.Runner().WaitForAbandoned(t.Context()); err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, "the configuration", worktest.Get(t, g.In(".git/config")), "[core]\n")
	exit, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "true"}, nil)
	if err != nil || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "core.pager") {
		t.Errorf("%q, %v", exit.Notes, err)
	}
}

func TestTailWriter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"curl: (6) Could not resolve host: example.org":                           true,
		"dial tcp: lookup proxy.example.org on 127.0.0.53:53: read: refused":      true,
		"Error: getaddrinfo EAI_AGAIN registry.example.com":                       true,
		"connect: Network is unreachable":                                         true,
		"--- FAIL: TestX\n    want 1, got 2":                                      false,
		"Network is unreachable" + strings.Repeat("\nlater", run.MaxTail):         false,
		"a test that says: permission denied; No such file or directory":          false,
		strings.Repeat("before\n", run.MaxTail) + "fatal: unable to resolve host": true,
	} {
		w := textcut.NewTail(run.MaxTail)
		for half := range strings.SplitSeq(text, " ") {
			if _, err := w.Write([]byte(half + " ")); err != nil {
				t.Fatal(err)
			}
		}
		if got := run.WantsNetwork(w); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}

// TestRefusedSocket has what languages say of a socket that the kernel refuses.
func TestRefusedSocket(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"  File \"/usr/lib/python3.11/socket.py\", line 232, in __init__\nPermissionError: [Errno 1] Operation not permitted": true,
		"Error: listen EPERM: operation not permitted 0.0.0.0:8080":                                                           true,
		"2026/11/27 10:00:00 listen tcp 127.0.0.1:8080: socket: operation not permitted":                                      true,
		"java.net.SocketException: Operation not permitted":                                                                   true,
		"'initialize': Operation not permitted - socket(2) - udp (Errno::EPERM)":                                              true,
		"chown: changing ownership of 'a': Operation not permitted":                                                           false,
		"connect: Connection refused":                                                                                         false,
	} {
		w := textcut.NewTail(run.MaxTail)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := run.RefusedSocket(w); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestRun_Sandbox is S2: a level that cannot be had refuses the command.
func TestRun_Sandbox(t *testing.T) {
	t.Parallel()
	finding := func(r sandbox.Report) *sandbox.Box {
		return &sandbox.Box{Probe: sandbox.NewProbe(func(context.Context) sandbox.Report { return r })}
	}
	for _, tt := range []struct {
		name  string
		box   *sandbox.Box
		level sandbox.Kind
		want  string
	}{
		{"refused", finding(sandbox.Report{Kind: sandbox.None, Refused: "it is not installed"}), "", "it is not installed"},
		{"another one was found", finding(sandbox.Report{Kind: sandbox.None}), sandbox.Landlock, "restart the agent"},
		{"no box", nil, sandbox.Bubblewrap, "no sandbox"},
		{"none is enough", finding(sandbox.Report{Kind: sandbox.None}), sandbox.None, ""},
		{"anything is enough", finding(sandbox.Report{Kind: sandbox.None}), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, func(o *workspace.Options) { o.Commands.Sandbox = run.Sandboxing{Box: tt.box, Level: tt.level} })
			_, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "touch made"}, nil)
			_, made := os.Lstat(g.In("made"))
			if (made == nil) != (tt.want == "") || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("made %v, err %v", made == nil, err)
			}
		})
	}
}

// A repository that a command makes of a link is reported, and nothing behind the link is
// touched.
func TestGuard_LinkForARepository(t *testing.T) {
	t.Parallel()
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.GitPrograms = command.GitConfigSettings })
	theirs := worktest.Put(t, g.In("work/hooks/precious"), "work")
	exit, err := g.Start(t).Processes().Run(t.Context(), tools.ShellCommand{Text: "ln -s work .git"}, nil)
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	if len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "link") {
		t.Errorf("notes %q", exit.Notes)
	}
	worktest.Same(t, "what the link leads to", worktest.Get(t, theirs), "work")
}

// TestGuard_Unasked is P5 for a command that no one was asked about: what it changes of
// protected names is put back. One that was asked about may change them.
func TestGuard_Unasked(t *testing.T) {
	t.Parallel()
	for _, unasked := range []bool{true, false} {
		g := worktest.New(t, func(o *workspace.Options) {
			o.Commands.GitPrograms = command.GitConfigSettings
			o.Protection.Protected = func(path string) bool { return permissions.Protected(path) != permissions.Unprotected }
		})
		worktest.Put(t, g.In(".envrc"), "mine")
		worktest.Put(t, g.In(".vscode/tasks.json"), "mine")
		worktest.Put(t, g.In("a/b/.envrc"), "mine")
		worktest.Put(t, g.In("a/b/repo/.git/HEAD"), "ref")
		worktest.Put(t, g.In("a/b/repo/.git/config"), "")
		call := g.Start(t)
		call.Commands().Grant(run.Grant{Unasked: unasked})
		text := "echo evil > .envrc; rm -r .vscode; mkdir .zed && echo evil > .zed/settings.json; echo fine > made; " +
			"echo evil > a/b/.envrc; mkdir -p a/c/.vscode n/.git/hooks; echo evil > a/c/.vscode/tasks.json; echo evil > n/.git/hooks/pre-push; " +
			`printf '[core]\n\tfsmonitor = evil\n' | tee n/.git/config > a/b/repo/.git/config; echo gitdir: ../../n > a/c/.git`
		exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: text}, nil)
		if err != nil || exit.Code != 0 {
			t.Fatal(exit, err)
		}
		worktest.Same(t, "what is not protected", worktest.Get(t, g.In("made")), "fine\n")
		_, err = os.Lstat(g.In(".zed/settings.json"))
		if !unasked {
			worktest.Same(t, "what was asked about", worktest.Get(t, g.In(".envrc")), "evil\n")
			if err != nil || len(exit.Notes) != 0 {
				t.Errorf("asked about: %v, notes %q", err, exit.Notes)
			}
			continue
		}
		worktest.Same(t, ".envrc", worktest.Get(t, g.In(".envrc")), "mine")
		worktest.Same(t, "tasks.json", worktest.Get(t, g.In(".vscode/tasks.json")), "mine")
		worktest.Same(t, "a deeper .envrc", worktest.Get(t, g.In("a/b/.envrc")), "mine")
		worktest.Same(t, "a deeper repository", worktest.Get(t, g.In("a/b/repo/.git/config")), "")
		for _, name := range []string{"a/c/.vscode/tasks.json", "n/.git/hooks/pre-push", "n/.git/config", "a/c/.git"} {
			if _, err := os.Lstat(g.In(name)); err == nil {
				t.Errorf("%s is still there", name)
			}
		}
		if err == nil || len(exit.Notes) != 9 {
			t.Errorf("made anew: %v, notes %q", err, exit.Notes)
		}
	}
}

// TestGuard_LosesNothing: of what could not be looked at before, nothing is taken away;
// what the session's own tools wrote meanwhile stays; and what stood where something was
// put back is kept.
func TestGuard_LosesNothing(t *testing.T) {
	t.Parallel()
	fixture := func(t *testing.T) (*worktest.Fixture, func(text string) []string) {
		g := worktest.New(t, func(o *workspace.Options) {
			o.Commands.GitPrograms = command.GitConfigSettings
			o.Protection.Protected = func(path string) bool { return permissions.Protected(path) != permissions.Unprotected }
		})
		return g, func(text string) []string {
			call := g.Start(t)
			call.Commands().Grant(run.Grant{Unasked: true})
			exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: text}, nil)
			if err != nil || exit.Code != 0 {
				t.Fatal(exit, err)
			}
			return exit.Notes
		}
	}
	t.Run("more files than are looked at", func(t *testing.T) {
		t.Parallel()
		g, notesOf := fixture(t)
		name := func(i int) string { return g.In(fmt.Sprintf(".agents/notes/%04d", i)) }
		for i := range run.MaxGuardedFiles + 20 {
			worktest.Put(t, name(i), "mine")
		}
		notes := notesOf("rm .agents/notes/0000 .agents/notes/0001; echo evil > .agents/notes/0002")
		for i := range run.MaxGuardedFiles + 20 {
			worktest.Same(t, name(i), worktest.Get(t, name(i)), "mine")
		}
		if text := strings.Join(notes, "\n"); len(notes) != 3 || !strings.Contains(text, "0002 was put back") {
			t.Errorf("notes %q", notes)
		}
		last := name(run.MaxGuardedFiles + 19) // of which only the time is known
		notes = notesOf("echo evil > .agents/notes/9999; echo evil > " + last)
		if text := strings.Join(notes, "\n"); len(notes) != 2 || !strings.Contains(text, "9999 was moved aside") || !strings.Contains(text, last+" was changed and cannot be put back") {
			t.Errorf("notes %q", notes)
		}
	})
	t.Run("a file that cannot be read", func(t *testing.T) {
		t.Parallel()
		g, _ := fixture(t)
		worktest.Put(t, g.In(".agents/mine"), "mine")
		if notes := g.Runner().CompareUnread(".agents", ".agents/mine"); len(notes) != 0 {
			t.Errorf("notes %q", notes)
		}
		worktest.Same(t, "the file", worktest.Get(t, g.In(".agents/mine")), "mine")
	})
	t.Run("what a tool wrote meanwhile", func(t *testing.T) {
		t.Parallel()
		g, notesOf := fixture(t)
		worktest.Put(t, g.In(".envrc"), "old")
		worktest.Put(t, g.In(".vscode/settings.json"), "old")
		done := make(chan []string)
		go func() {
			done <- notesOf("echo > up; while ! [ -e go ]; do sleep 0.01; done; echo evil > .vscode/settings.json")
		}()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Lstat(g.In("up")); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the command did not come up")
			}
		}
		for _, name := range []string{".envrc", ".vscode/settings.json", ".zed/settings.json"} {
			if err := g.Start(t).FS().WriteText(t.Context(), g.In(name), "new", nil); err != nil {
				t.Fatal(err)
			}
		}
		worktest.Put(t, g.In("go"), "")
		notes := <-done
		worktest.Same(t, "what was written", worktest.Get(t, g.In(".envrc")), "new")
		worktest.Same(t, "what was made", worktest.Get(t, g.In(".zed/settings.json")), "new")
		worktest.Same(t, "what the command then changed", worktest.Get(t, g.In(".vscode/settings.json")), "old")
		if len(notes) != 1 || !strings.Contains(notes[0], "settings.json was put back") {
			t.Errorf("notes %q", notes)
		}
	})
	t.Run("what stood there", func(t *testing.T) {
		t.Parallel()
		g, notesOf := fixture(t)
		worktest.Put(t, g.In(".envrc"), "old")
		notes := notesOf("printf new > .envrc")
		if len(notes) != 1 {
			t.Fatalf("notes %q", notes)
		}
		_, path, found := strings.Cut(strings.TrimSuffix(notes[0], "."), "What stood there is ")
		if !found {
			t.Fatalf("notes %q", notes)
		}
		worktest.Same(t, "what is kept", worktest.Get(t, path), "new")
		worktest.Same(t, "what was put back", worktest.Get(t, g.In(".envrc")), "old")
		if left, err := filepath.Glob(g.In(".acp-agent-*")); err != nil || len(left) > 0 {
			t.Errorf("left %q, %v", left, err)
		}
	})
}

// TestConfine_Cancelled: what was made for a command that is cancelled before it starts
// is taken away again.
func TestConfine_Cancelled(t *testing.T) {
	t.Parallel()
	found := sandbox.NewProbe(func(context.Context) sandbox.Report { return sandbox.Report{Kind: sandbox.Bubblewrap} })
	if _, err := found.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.Sandbox = run.Sandboxing{Box: &sandbox.Box{Probe: found}} })
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // whether the finding or the end of the context is seen first is chance
		if err := g.Runner().Confine(cancelled); err == nil {
			t.Fatal("a cancelled command is confined")
		}
	}
	for _, name := range []string{".acp-agent", ".agents"} {
		if _, err := os.Lstat(g.In(name)); err == nil {
			t.Errorf("%s is left behind", name)
		}
	}
}
