package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// TestReading is S7: a command that only reads changes nothing and reads no secret, also
// where another command may write, and by ways that open nothing for writing. The short form
// tries every fourth.
func TestReading(t *testing.T) {
	tests := testreq.Pick(6, []struct {
		name, cmd string
		fails     bool
		output    string
		only      kinds
	}{
		{name: "read the project", cmd: "cat main.go && ls -la > /dev/null && cat < main.go > /dev/null", output: "package main"},
		{name: "read a repository", cmd: "cat .git/config", output: "[core]\n"},
		{name: "a temporary file", cmd: `f=$(mktemp) && echo x > "$f" && cat "$f"`, output: "x\n"},
		{name: "a cache that ends with it", cmd: `mkdir -p "$GOCACHE" "$XDG_CACHE_HOME" && echo x > "$GOCACHE/x" && case $GOCACHE in $TMPDIR/*) echo in;; esac`, output: "in\n"},
		{name: "a text that is longer than a pipe holds", cmd: "cat <<E | wc -c\n" + strings.Repeat("0123456789abcde\n", 8000) + "E\n", output: "128000\n"},
		{name: "pipes and children", cmd: "(echo a; echo b) | sort -r | head -1", output: "b\n"},
		{name: "the size of a secret, by which git knows it", cmd: "stat -c %s .env", output: "10\n"},
		{name: "no new rights", cmd: "grep NoNewPrivs /proc/self/status", output: "NoNewPrivs:\t1\n"},
		{name: "no capability", cmd: "grep CapEff /proc/self/status", output: "CapEff:\t0000000000000000\n"},

		{name: "make a file", cmd: "echo x > new", fails: true},
		{name: "make a directory", cmd: "mkdir new", fails: true},
		{name: "make a link", cmd: "ln -s main.go new || ln main.go new2", fails: true},
		{name: "make a pipe", cmd: "mkfifo new", fails: true},
		{name: "change a file", cmd: "echo x >> main.go || truncate -s0 main.go", fails: true},
		{name: "cut a file that is opened for reading", cmd: `python3 -c 'import os; os.open("main.go", os.O_RDONLY|os.O_TRUNC)'`, fails: true},
		{name: "change a mode", cmd: "chmod 777 main.go", fails: true},
		{name: "change a time", cmd: "touch -d 2001-01-01 main.go", fails: true},
		{name: "change an attribute", cmd: `python3 -c 'import os; os.setxattr("main.go", "user.x", b"x")'`, fails: true},
		{name: "change flags", cmd: "chattr +A main.go", fails: true},
		{name: "delete a file", cmd: "rm -f main.go", fails: true},
		{name: "move a file", cmd: "mv main.go new", fails: true},
		{name: "through a descriptor", cmd: "exec 3< main.go; echo x > /proc/self/fd/3", fails: true},
		{name: "through the root of a process", cmd: `echo x > /proc/self/root$PWD/new || echo x > /proc/$PPID/root$PWD/new`, fails: true},
		{name: "make a hook", cmd: "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", fails: true},
		{name: "write in scratch", cmd: `echo x > $D/home/.local/state/acp-agent/s1/scratch/y`, fails: true},
		{name: "write what other commands keep", cmd: `echo x > $D/home/.local/state/acp-agent/s1/tmp2/y || echo x > $D/cache/y`, fails: true},
		{name: "write at home", cmd: "echo x > $D/home/made", fails: true},
		{name: "write in the machine's memory", cmd: "echo x > /dev/shm/acp-agent-reading", fails: true, only: kinds{Landlock}},
		{name: "write to terminals", cmd: "for t in /dev/pts/[0-9]*; do printf '' > $t && exit 0; done 2>/dev/null; printf '' > /dev/ptmx", fails: true, only: kinds{Landlock}},
		{name: "read a secret", cmd: "cat .env || cp .env $TMPDIR/x", fails: true},
		{name: "read a secret by a link", cmd: `ln -s $PWD/.env $TMPDIR/l && cat $TMPDIR/l`, fails: true},
		{name: "read a secret by its other name beside it", cmd: "cat again.txt", fails: true},
		{name: "read a key", cmd: "grep canary $D/home/.ssh/id_ed25519", fails: true},
		{name: "reach the project's server", cmd: `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("server")'`, fails: true},
		{name: "a socket", cmd: `python3 -c 'import socket; socket.socket()'`, fails: true},
		{name: "memory of others", cmd: `ipcmk -M 64`, fails: true},
		{name: "signal the agent", cmd: "kill -0 $AGENT", fails: true},
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
					g.request.Reading = true
					l, err := net.Listen("unix", filepath.Join(g.project, "server"))
					if err != nil {
						t.Fatal(err)
					}
					defer l.Close()
					if err := os.Link(filepath.Join(g.project, ".env"), filepath.Join(g.project, "again.txt")); err != nil {
						t.Fatal(err)
					}
					before := state(t, g.dir, g.request.Tmp)
					out, code := g.run(t, "AGENT="+itoa(os.Getpid())+"; "+tt.cmd)
					if (code != 0) != tt.fails || tt.output != "" && out != tt.output {
						t.Errorf("exit code %d with %q", code, out)
					}
					if strings.Contains(out, "canary") {
						t.Errorf("it came out: %q", out)
					}
					if after := state(t, g.dir, g.request.Tmp); after != before {
						t.Errorf("the disk is\n%s\nand was\n%s", after, before)
					}
				})
			}
		})
	}
}

// state is every file beneath a directory with its mode, size and times, but for what lies
// in one of them.
func state(t testing.TB, dir, but string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if name == but {
			return filepath.SkipDir
		}
		if err == nil {
			b.WriteString(strings.Join([]string{name, info.Mode().String(), itoa(int(info.Size())), info.ModTime().String()}, " ") + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
