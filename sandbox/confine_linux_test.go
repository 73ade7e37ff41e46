package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/testreq"
)

// fixture is a machine in small: a home with a secret, a project with a repository,
// and what lies outside.
type fixture struct {
	dir, home, project, outside, own string

	launcher *launch.Launcher
	box      *Box
	request  Request
	fileSize uint64 // the limit of one file's bytes; 0 is 4096 blocks
}

func newFixture(t testing.TB, kind Kind) *fixture {
	t.Helper()
	report := Report{Kind: None}
	if kind != None {
		report = require(t, kind)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &fixture{
		launcher: launcher(t), dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home", "project"),
		outside: filepath.Join(dir, "home", "other"), own: filepath.Join(dir, "home", ".local", "state", "acp-agent"),
	}
	for name, text := range map[string]string{
		"home/.ssh/id_ed25519": "canary-ssh", "home/.netrc": "canary-netrc", "home/.profile": "profile", "home/other/file": "other",
		"home/project/dot/agents/a.md": "", "home/project/dot/single.md": "",
		"home/project/.git/config": "[core]\n", "home/project/main.go": "package main", "home/project/.env": "canary-env",
		"home/.local/state/acp-agent/config.jsonc": "canary-key",
		"home/.local/state/acp-agent/s1/scratch/x": "", "home/.local/state/acp-agent/s1/run/spec": "canary-spec",
		"home/.local/state/acp-agent/s1/output": "sidecar", "home/.local/state/acp-agent/s1/tmp/x": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	session := filepath.Join(g.own, "s1")
	g.box = &Box{
		Probe: NewProbe(func(context.Context) Report { return report }),
		Home:  g.home, Own: []string{g.own}, Environ: []string{"PATH=" + os.Getenv("PATH")}, CacheDir: filepath.Join(dir, "cache"),
	}
	for _, name := range []string{"dot/agents", "dot/single.md", "later/agents"} {
		g.box.Guarded = append(g.box.Guarded, filepath.Join(g.project, name))
	}
	g.request = Request{
		Roots: []string{g.project}, Writable: []string{g.project}, Private: session, Scratch: filepath.Join(session, "scratch"),
		Tmp: filepath.Join(session, "tmp"), Closed: []string{filepath.Join(session, "run")},
		Secrets: []string{filepath.Join(g.project, ".env")},
	}
	return g
}

// start starts a shell command under the policy of the fixture's request.
func (g *fixture) start(t testing.TB, text string, out *bytes.Buffer) (*launch.Process, Confined) {
	t.Helper()
	c, err := g.box.Confine(t.Context(), g.request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Release)
	shell, err := launch.FindShell(os.Getenv("PATH"), nil)
	if err != nil {
		testreq.Skip(t, err.Error())
	}
	spec := launch.Spec{
		Text: text, Shell: shell, Dir: g.project, Limits: launch.Limits{FileSize: cmp.Or(g.fileSize, 4096*fileUnit), Processes: 4096},
		Env: append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, "D=" + g.dir}, c.Env...),
	}
	if spec.Policy, err = c.Policy.Encode(); err != nil {
		t.Fatal(err)
	}
	p, err := g.launcher.StartStreams(t.Context(), spec, launch.Streams{Output: out})
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

// run runs a command to its end.
func (g *fixture) run(t testing.TB, text string) (output string, code int) {
	t.Helper()
	return g.runFor(t, time.Minute, text)
}

func (g *fixture) runFor(t testing.TB, limit time.Duration, text string) (output string, code int) {
	t.Helper()
	var out bytes.Buffer
	p, c := g.start(t, text, &out)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	status, err := p.Wait(ctx)
	if err != nil {
		p.Stop(0)
		<-p.Done()
		t.Fatalf("%s: %v with output %q", text, err, out.String())
	}
	c.Release()
	return out.String(), status.ExitCode
}

// fileUnit is what `ulimit -f` counts in, in bytes.
const fileUnit = 1024

// confining are the kinds that tests go through on Linux.
var confining = kinds{Bubblewrap, Namespaces, Landlock}

// withView are the kinds under which a command has a view of its own of the disk.
var withView = kinds{Bubblewrap, Namespaces}

type kinds []Kind

// TestWalls is what a confined command can do, and what it cannot. The short form
// tries every fourth.
func TestWalls(t *testing.T) {
	tests := testreq.Pick(8, []struct {
		name, cmd string
		fails     bool
		output    string
		only      kinds
	}{
		{name: "write in the project", cmd: "echo x > new && cat new", output: "x\n"},
		{name: "write in scratch", cmd: `echo x > $D/home/.local/state/acp-agent/s1/scratch/y`},
		{name: "write a temporary file", cmd: `f=$(mktemp) && echo x > "$f" && cat "$f"`, output: "x\n"},
		{name: "write a cache", cmd: `mkdir -p "$GOCACHE" && touch "$GOCACHE/x"`},
		{name: "write the null device", cmd: "echo x > /dev/null"},
		{name: "read the system", cmd: "cat /etc/passwd > /dev/null && ls /usr/bin > /dev/null"},
		{name: "read elsewhere at home", cmd: "cat $D/home/other/file", fails: true},
		{name: "read what was put aside", cmd: "cat $D/home/.local/state/acp-agent/s1/output", output: "sidecar"},
		{name: "move between directories", cmd: `mkdir a b && echo x > a/x && mv a/x b/ && mv b/x "$TMPDIR/x" && mv "$TMPDIR/x" . && cat x`, output: "x\n"},
		{name: "a limit", cmd: "ulimit -f; ulimit -Sc 0; exec true", output: "4096\n"},
		{name: "pipes and children", cmd: "(echo a; echo b) | sort -r | head -1", output: "b\n"},
		{name: "an exit code", cmd: "exit 3", fails: true},

		{name: "write elsewhere at home", cmd: "echo x > $D/home/other/made", fails: true},
		{name: "change a file elsewhere", cmd: "echo x >> $D/home/other/file", fails: true},
		{name: "truncate a file elsewhere", cmd: "truncate -s0 $D/home/other/file", fails: true},
		{name: "delete a file elsewhere", cmd: "rm $D/home/other/file", fails: true},
		{name: "move a file in", cmd: "mv $D/home/other/file .", fails: true},
		{name: "link out and write", cmd: "ln -s $D/home/other/file l && echo x > l", fails: true},
		{name: "write in the system", cmd: "echo x > /usr/made || echo x > /etc/made || echo x > /var/made", fails: true},
		{name: "settings of the kernel", cmd: "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern", fails: true},
		{name: "settings of devices", cmd: "for f in /sys/kernel/mm/*/*; do cat $f > $f && exit 0; done 2>/dev/null; exit 1", fails: true},
		{name: "the groups of processes", cmd: "mkdir /sys/fs/cgroup/made", fails: true},
		{name: "read a key", cmd: "grep canary $D/home/.ssh/id_ed25519", fails: true},
		{name: "read a key through a link", cmd: "ln -s $D/home/.ssh s && grep canary s/id_ed25519", fails: true},
		{name: "read a password", cmd: "grep canary $D/home/.netrc", fails: true},
		{name: "read our own configuration", cmd: "grep canary $D/home/.local/state/acp-agent/config.jsonc", fails: true},
		{name: "read a helper's papers", cmd: "grep canary $D/home/.local/state/acp-agent/s1/run/spec", fails: true},
		{name: "read the agent's memory", cmd: "cat /proc/$AGENT/environ", fails: true},
		{name: "signal the agent", cmd: "kill -0 $AGENT", fails: true},
		{name: "a namespace of its own", cmd: "unshare -Ur true", fails: true},
		{name: "mount", cmd: "mount -t tmpfs none /mnt", fails: true},
		{name: "another root", cmd: "chroot / true", fails: true},

		{name: "read a secret of the project", cmd: "grep canary .env", fails: true, only: withView},
		{name: "commit a secret of the project as empty", cmd: "cp .env copy", fails: true, only: withView},
		{name: "make a hook", cmd: "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", fails: true, only: withView},
		{name: "move the hooks away", cmd: "mv .git/hooks .git/h", fails: true, only: withView},
		{name: "move the repository away", cmd: "mv .git g", fails: true, only: withView},
		{name: "make our configuration", cmd: "mkdir -p .acp-agent; echo x > .acp-agent/config.jsonc", fails: true, only: withView},
		{name: "replace our configuration", cmd: "rmdir .acp-agent || mv .acp-agent x", fails: true, only: withView},
		{name: "make a skill", cmd: "mkdir -p .agents/skills", fails: true, only: withView},
		{name: "write in what is guarded", cmd: "echo x > dot/agents/new.md", fails: true, only: withView},
		{name: "move what holds the guarded away", cmd: "mv dot old && mkdir -p dot/agents && echo x > dot/agents/new.md", fails: true, only: withView},
		{name: "make what is guarded", cmd: "mkdir -p later/agents && echo x > later/agents/new.md", fails: true, only: withView},
		{name: "change a guarded file", cmd: "echo x > dot/single.md || mv main.go dot/single.md", fails: true, only: withView},
		{name: "write beside what is guarded", cmd: "echo x > dot/new && cat dot/new", output: "x\n"},
		{name: "change the repository's configuration", cmd: "echo x >> .git/config", fails: true, only: withView},
		{name: "replace the repository's configuration", cmd: "touch c && mv c .git/config", fails: true, only: withView},
		{name: "see other processes", cmd: "test -d /proc/$AGENT", fails: true, only: withView},
		{name: "no descriptors", cmd: "ls /proc/self/fd | tr '\\n' ' '", output: "0 1 2 3 "},
		{name: "no capability", cmd: "grep CapEff /proc/self/status", output: "CapEff:\t0000000000000000\n"},
	})
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			require(t, kind)
			for _, tt := range tests {
				if tt.only != nil && !slices.Contains(tt.only, kind) {
					continue
				}
				t.Run(tt.name, func(t *testing.T) {
					g := newFixture(t, kind)
					cmd := "AGENT=" + itoa(os.Getpid()) + "; " + tt.cmd
					out, code := g.run(t, cmd)
					if (code != 0) != tt.fails || tt.output != "" && out != tt.output {
						t.Errorf("exit code %d with %q", code, out)
					}
					if strings.Contains(out, "canary") {
						t.Errorf("it came out: %q", out)
					}
					if text, err := os.ReadFile(filepath.Join(g.outside, "file")); err != nil || string(text) != "other" {
						t.Errorf("the file outside: %q, %v", text, err)
					}
				})
			}
		})
	}
}

// A policy leaves nothing in the project.
func TestWalls_LeaveNothing(t *testing.T) {
	g := newFixture(t, Bubblewrap)
	if out, code := g.run(t, "ls -a > list; test -d .acp-agent"); code != 0 {
		t.Fatalf("exit code %d with %q", code, out)
	}
	for _, name := range []string{".acp-agent", ".agents", ".git/hooks", "later"} {
		if _, err := os.Lstat(filepath.Join(g.project, name)); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
	if err := os.RemoveAll(filepath.Join(g.project, ".git")); err != nil {
		t.Fatal(err)
	}
	if out, code := g.run(t, "test ! -e .git"); code != 0 {
		t.Errorf("a repository was made: %q", out)
	}
}

// A listener of this process, and one in the abstract namespace of sockets, count
// who comes.
func TestWalls_Network(t *testing.T) {
	var came atomic.Int32
	serve := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				came.Add(1)
				conn.Close()
			}
		}()
		return l
	}
	_, port, err := net.SplitHostPort(serve("tcp", "127.0.0.1:0").Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	connect := "exec 3<>/dev/tcp/127.0.0.1/" + port
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			g := newFixture(t, kind)
			if !strings.Contains(mustShell(t), "bash") {
				testreq.Skip(t, "bash is not there to connect")
			}
			came.Store(0)
			if out, code := g.run(t, connect); code == 0 || came.Load() != 0 {
				t.Errorf("closed: exit code %d with %q, and %d came", code, out, came.Load())
			}
			if out, code := g.run(t, "echo x > /dev/udp/127.0.0.1/9"); kind == Landlock && code == 0 {
				t.Errorf("a datagram was sent: %q", out)
			}
			g.request.Network = true
			if out, code := g.run(t, connect); code != 0 {
				t.Errorf("open: exit code %d with %q", code, out)
			}
			for until := time.Now().Add(time.Minute); came.Load() != 1 && time.Now().Before(until); {
				time.Sleep(time.Millisecond)
			}
			if came.Load() != 1 {
				t.Errorf("%d came", came.Load())
			}
		})
	}
}

// A server outside that has a socket is out of reach, also in the project; one in a directory
// that the user opened besides is not.
func TestWalls_Sockets(t *testing.T) {
	for _, kind := range testreq.Pick(2, confining) {
		t.Run(string(kind), func(t *testing.T) {
			g := newFixture(t, kind)
			if out, code := g.run(t, "python3 -c 'import socket'"); code != 0 {
				testreq.Skip(t, "python3 is not there to connect: "+out)
			}
			opened := filepath.Join(g.outside, "opened")
			if err := os.Mkdir(opened, 0o755); err != nil {
				t.Fatal(err)
			}
			g.request.Writable = append(g.request.Writable, opened)
			for _, dir := range []string{g.outside, g.project, opened} {
				l, err := net.Listen("unix", filepath.Join(dir, "a server"))
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
			}
			connect := `python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' `
			for _, dir := range []string{"other", "project"} {
				if out, code := g.run(t, connect+`"$D/home/`+dir+`/a server"`); code == 0 {
					t.Errorf("a server outside was reached: %q", out)
				}
			}
			if out, code := g.run(t, connect+`"$D/home/other/opened/a server"`); kind.HasView() && code != 0 {
				t.Errorf("the opened server: exit code %d with %q", code, out)
			}
			name := "@acp-agent-" + strconv.Itoa(os.Getpid()) + string(kind)
			l, err := net.Listen("unix", name)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			g.request.Network = true
			if out, code := g.run(t, `python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(chr(0)+sys.argv[1][1:])' `+name); code == 0 {
				t.Errorf("a server without a path was reached: %q", out)
			}
		})
	}
}

func mustShell(t testing.TB) string {
	t.Helper()
	shell, err := launch.FindShell(os.Getenv("PATH"), nil)
	if err != nil {
		testreq.Skip(t, err.Error())
	}
	return shell.Path
}

// TestWalls_Stop: what forks twice, leaves its session and ignores TERM is gone soon
// after a stop (X4), under every kind and without any.
func TestWalls_Stop(t *testing.T) {
	for i, kind := range append(kinds{None}, confining...) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			var out bytes.Buffer
			nap := "31" + itoa(os.Getpid()) + itoa(i)
			p, _ := g.start(t, `trap "" TERM
				(setsid sh -c 'trap "" TERM; (sleep `+nap+` & echo up > up; wait) & wait' &)
				while :; do sleep 0.05; done`, &out)
			for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				if _, err := os.Lstat(filepath.Join(g.project, "up")); err == nil && napping(t, nap) > 0 {
					break
				}
				if time.Now().After(until) {
					t.Fatalf("it did not come up: %q", out.String())
				}
			}
			start := time.Now()
			p.Stop(launch.StopGrace)
			<-p.Done()
			if took := time.Since(start); took > testreq.Slack(3*time.Second) || napping(t, nap) != 0 {
				t.Errorf("after %v there are %d left", took, napping(t, nap))
			}
		})
	}
}

// napping counts the processes of this machine that sleep so long.
func napping(t testing.TB, nap string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && string(text) == "sleep\x00"+nap+"\x00" {
			n++
		}
	}
	return n
}

// A polite program has its time to end: the sandbox is not asked to end before it.
func TestWalls_Grace(t *testing.T) {
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			var out bytes.Buffer
			p, _ := g.start(t, `trap 'echo bye > bye; exit 0' TERM; echo up > up; while :; do sleep 0.02; done`, &out)
			for until := time.Now().Add(time.Minute); missing(filepath.Join(g.project, "up")); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("it did not come up: %q", out.String())
				}
			}
			p.Stop(launch.StopGrace)
			<-p.Done()
			if missing(filepath.Join(g.project, "bye")) {
				t.Error("it was killed before it could end")
			}
		})
	}
}
