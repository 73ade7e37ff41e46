package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/launch"
)

// runOutside runs a text of the shell as a program of the user's, with no sandbox but the policy of Outside.
func (g *fixture) runOutside(t *testing.T, text string) (output string, code int) {
	t.Helper()
	policy, err := g.box.Outside(t.Context(), g.request, []string{filepath.Join(g.home, "earlier"), g.home, "/"})
	if err != nil {
		t.Fatal(err)
	}
	spec := launch.Spec{Argv: []string{"/bin/sh", "-c", text}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, "D=" + g.dir}}
	if spec.Policy, err = policy.Encode(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p, err := launcher(t).StartStreams(t.Context(), spec, launch.Streams{Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	status, err := p.Wait(ctx)
	if err != nil {
		p.Stop(0)
		<-p.Done()
		t.Fatal(err)
	}
	return out.String(), status.ExitCode
}

// A program of the user's has what the user has, but for what a command could have made: of this session, with all
// that one can be granted, of others of the process, and by whatever name.
func TestOutside(t *testing.T) {
	for _, kind := range withView {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, kind)
			write := func(name, text string) {
				t.Helper()
				path := filepath.Join(g.dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"home/project/helper", "home/go/pkg/mod/helper", "cache/x/helper", "home/second/helper", "home/opened/helper", "home/files/helper", "home/earlier/helper", "home/bin/own"} {
				write(name, "#!/bin/sh\necho ran\n")
			}
			write("home/opened-file", "ran")
			g.box.Packages = []string{filepath.Join(g.home, "go", "pkg", "mod"), filepath.Join(g.home, ".m2", "repository")}
			g.box.Own = append(g.box.Own, filepath.Join(g.home, "opened-file"))
			other := g.request
			other.Roots, other.Private, other.Scratch, other.Tmp = []string{filepath.Join(g.home, "second")}, "", "", ""
			other.Writable = other.Roots
			c, err := g.box.Confine(t.Context(), other)
			if err != nil {
				t.Fatal(err)
			}
			c.Release()
			g.box.Give(filepath.Join(g.home, "files"))
			g.request.Writable = append(g.request.Writable, filepath.Join(g.home, "opened"))
			for name, target := range map[string]string{"link": g.project, "bin/linked": filepath.Join(g.project, "helper")} {
				if err := os.Symlink(target, filepath.Join(g.home, name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range []string{
				"$HOME/project/helper", "cd && cd project && ./helper", "$HOME/pro*/helper", "$HOME/link/helper", "$HOME/bin/linked",
				"$HOME/go/pkg/mod/helper", "$D/cache/x/helper", "$HOME/second/helper", "$HOME/opened/helper", "$HOME/files/helper", "$HOME/earlier/helper", "grep . $HOME/opened-file",
				"cat $HOME/.local/state/acp-agent/s1/scratch/x && echo ran", "cat $HOME/.local/state/acp-agent/s1/tmp/x && echo ran",
				"touch $HOME/project/made && echo ran",
			} {
				if out, code := g.runOutside(t, text); strings.HasSuffix(out, "ran\n") || code == 0 {
					t.Errorf("%s: %q, exit code %d", text, out, code)
				}
			}
			for text, want := range map[string]string{
				"$HOME/bin/own": "ran\n", "cat $HOME/.ssh/id_ed25519": "canary-ssh", "echo new > $HOME/kept && cat $D/home/kept": "new\n",
				"echo x > /dev/null && test -e /dev/mem && echo machine": devMem(), "ls $HOME/project $HOME/go/pkg/mod && pwd": "", "id -u": "",
			} {
				if out, code := g.runOutside(t, text); code != 0 && want != "" || want != "" && out != want {
					t.Errorf("%s: %q, exit code %d", text, out, code)
				}
			}
			if text, err := os.ReadFile(filepath.Join(g.home, "kept")); err != nil || string(text) != "new\n" {
				t.Errorf("what it wrote is %q, %v", text, err)
			}
		})
	}
}

// devMem is what a look for a device says that only the machine's own /dev can have.
func devMem() string {
	if _, err := os.Stat("/dev/mem"); err != nil {
		return ""
	}
	return "machine\n"
}

// Where nothing can be kept from a program, there is no policy.
func TestOutside_Refused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fixture){
		"the home":    func(g *fixture) { g.request.Writable = []string{g.home} },
		"above it":    func(g *fixture) { g.request.Writable = []string{g.dir} },
		"all":         func(g *fixture) { g.request.Writable = []string{"/"} },
		"another one": func(g *fixture) { g.box.Give(g.home) },
		"no sandbox":  func(g *fixture) { g.box.Probe = NewProbe(func(context.Context) Report { return Report{Kind: None} }) },
		"no view": func(g *fixture) {
			g.box.Probe = NewProbe(func(context.Context) Report { return Report{Kind: Landlock} })
		},
		"another kind": func(g *fixture) { g.request.Level = Seatbelt },
		"no box":       func(g *fixture) { g.box = nil },
	} {
		g := newFixture(t, Namespaces)
		change(g)
		if p, err := g.box.Outside(t.Context(), g.request, nil); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
