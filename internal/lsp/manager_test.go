package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// line is a text whose first character takes two units of UTF-16 and four of
// UTF-8.
const line = "𝄞abc\n"

func (g *ground) ask(t *testing.T, operation string) (*Answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return g.Ask(ctx, Query{Operation: operation, Path: g.put(t, "a.fake", line), Line: 1, Column: 2, Text: line})
}

func TestAsk_Places(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault, operation string
		want             []Location
	}{
		{"", Definitions, []Location{{"a.fake", 1, 2}}},
		{"no encoding", Definitions, []Location{{"a.fake", 1, 2}}},
		{"utf-8", References, []Location{{"a.fake", 1, 2}}},
		{"", References, []Location{{"a.fake", 1, 2}}},
		{"noise", Definitions, []Location{{"a.fake", 1, 2}}},
		{"one place", Definitions, []Location{{"a.fake", 1, 2}}},
		{"links", Definitions, []Location{{"a.fake", 1, 2}}},
		{"modified", Definitions, []Location{{"a.fake", 1, 2}}},
		{"busy", Definitions, []Location{{"a.fake", 1, 2}}},
		{"curious", Definitions, []Location{{"a.fake", 1, 2}}},
		{"odd places", Definitions, []Location{{"a.fake", 10000, 6}, {"/usr/lib/x.fake", 5, 7}}},
	}
	for _, tt := range tests {
		t.Run(tt.fault+" "+tt.operation, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, tt.fault)
			got, err := g.ask(t, tt.operation)
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range tt.want {
				if !filepath.IsAbs(l.Path) {
					tt.want[i].Path = g.path(l.Path)
				}
			}
			if d := cmp.Diff(&Answer{Server: "fake", Locations: tt.want}, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestAsk_Findings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault string
		want  Diagnostic
	}{
		{"publishes", Diagnostic{Line: 1, Column: 3, Severity: "warning", Message: "of " + line, Source: "fake", Code: "7"}},
		{"publishes without versions", Diagnostic{Line: 1, Column: 3, Severity: "warning", Message: "of " + line, Source: "fake", Code: "7"}},
		{"pulls", Diagnostic{Line: 1, Column: 1, Severity: "error", Message: "asked"}},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, tt.fault)
			tt.want.Path = g.path("a.fake")
			for range 2 { // the second time nothing has changed
				got, err := g.ask(t, Diagnostics)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(&Answer{Server: "fake", Diagnostics: []Diagnostic{tt.want}}, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

// The server sees each text, and only the file that is asked about stays open.
func TestAsk_Documents(t *testing.T) {
	t.Parallel()
	// Long enough for the server's two messages on a busy machine.
	g := newGround(t, "publishes", func(o *Options) { o.Settle = 300 * time.Millisecond })
	for i, text := range []string{"one", "two", "two", "three"} {
		for _, name := range []string{"a.fake", "b.fake"}[:1+i%2] {
			got, err := g.Ask(t.Context(), Query{Operation: Diagnostics, Path: g.path(name), Text: text})
			if err != nil {
				t.Fatal(err)
			}
			if m := got.Diagnostics[0].Message; m != "of "+text {
				t.Errorf("%s: %q, want the findings of %q", name, m, text)
			}
		}
	}
}

func TestAsk_Curious(t *testing.T) {
	t.Parallel()
	g := newGround(t, "curious")
	if _, err := g.ask(t, Definitions); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(g.path("heard"))
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	if err := json.Unmarshal(raw, &heard); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0 [null,null]", "1 null", "2 null",
		`3 {"applied":false,"failureReason":"files are not changed by a language server here"}`,
		`4 {"success":false}`,
		`5 {"code":-32601,"message":"not supported: fake/unknown","data":null}`,
	}
	for i, h := range heard {
		// How the library writes a missing value is its own affair.
		heard[i] = strings.ReplaceAll(h, `,"data":null`, "")
	}
	want[5] = strings.ReplaceAll(want[5], `,"data":null`, "")
	if d := cmp.Diff(want, heard); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAsk_Failures(t *testing.T) {
	t.Parallel()
	tests := []struct{ fault, want string }{
		{"crash", "panic: index out of range"},
		{"huge", "message of 16777217 bytes"},
		{"not json", "no message"},
		{"noise forever", "something other than messages"},
		{"flood", "ended unexpectedly"},
		{"dies at once", "no licence"},
		{"refuses", "wrong project"},
		{"refuses questions", "fake: no package for file"},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, tt.fault)
			if _, err := g.ask(t, Definitions); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestAsk_Restarts(t *testing.T) {
	t.Parallel()
	t.Run("after a crash", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, "crash once")
		if _, err := g.ask(t, Definitions); err == nil {
			t.Fatal("it did not crash")
		}
		if _, err := g.ask(t, Definitions); err != nil {
			t.Errorf("after the restart: %v", err)
		}
	})
	t.Run("three times and no more", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, "crash")
		for range 6 {
			if _, err := g.ask(t, Definitions); err == nil {
				t.Fatal("it did not crash")
			}
		}
		_, err := g.ask(t, Definitions)
		if err == nil || !strings.Contains(err.Error(), "gave up restarting after 4 failures in a row") || !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("error %v", err)
		}
		if n := g.count(); n != 1+maxRestarts {
			t.Errorf("%d starts", n)
		}
	})
}

func TestAsk_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, want string
		look             func(string) (string, bool)
	}{
		{"not installed", "a.fake", "no language server for .fake files is installed; install fake (make fake)", func(string) (string, bool) { return "", false }},
		{"unknown language", "a.txt", "no language server is known for a.txt", lookPath},
		{"outside", "../a.fake", "outside the directories", lookPath},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, "", func(o *Options) { o.LookPath = tt.look })
			_, err := g.Ask(t.Context(), Query{Operation: Definitions, Path: g.path(tt.path)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			if missing := (*MissingError)(nil); errors.As(err, &missing) != (tt.name != "outside") {
				t.Errorf("error %T", err)
			}
			if g.count() != 0 {
				t.Error("a server was started")
			}
		})
	}
	t.Run("start fails", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, "", func(o *Options) { o.Servers[0].Argv = []string{"no-such-server"} }, func(o *Options) {
			o.LookPath = func(string) (string, bool) { return "/x", true }
		})
		if _, err := g.ask(t, Definitions); err == nil || !strings.Contains(err.Error(), "start fake: not there") {
			t.Errorf("error %v", err)
		}
	})
}

// The end of a query's context ends the query, whatever the server does or does
// not do.
func TestAsk_Cancel(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"hang", "mute", "deaf", "publishes nothing"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			g := newGround(t, fault)
			why := errors.New("cancelled by the person")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, why)
			defer cancel()
			operation := Definitions
			if fault == "publishes nothing" {
				operation = Diagnostics
			}
			// More than any pipe holds.
			text := strings.Repeat("x", 1<<20)
			if _, err := g.Ask(ctx, Query{Operation: operation, Path: g.path("a.fake"), Line: 1, Column: 1, Text: text}); !errors.Is(err, why) {
				t.Errorf("error %v, want %v", err, why)
			}
			g.Close()
		})
	}
}

func TestAsk_StartWait(t *testing.T) {
	t.Parallel()
	g := newGround(t, "mute", func(o *Options) { o.StartWait = 50 * time.Millisecond })
	if _, err := g.ask(t, Definitions); err == nil || !strings.Contains(err.Error(), "did not start within 50ms") {
		t.Errorf("error %v", err)
	}
}

func TestAsk_NothingPublished(t *testing.T) {
	t.Parallel()
	g := newGround(t, "", func(o *Options) { o.PublishWait = 50 * time.Millisecond })
	if _, err := g.ask(t, Diagnostics); err == nil || !strings.Contains(err.Error(), "said nothing about the file") {
		t.Errorf("error %v", err)
	}
}

func TestAsk_Parallel(t *testing.T) {
	t.Parallel()
	g := newGround(t, "")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			path := g.path("a" + strconv.Itoa(i%3) + ".fake")
			got, err := g.Ask(t.Context(), Query{Operation: Definitions, Path: path, Line: 1, Column: 1, Text: line})
			if err != nil || len(got.Locations) != 1 || got.Locations[0].Path != path {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := g.count(); n != 1 {
		t.Errorf("%d servers were started", n)
	}
}

// A fifth server takes the place of the one that was asked longest ago.
func TestAsk_AtMost(t *testing.T) {
	t.Parallel()
	var roots []string
	g := newGround(t, "", func(o *Options) {
		o.Running = 2
		for _, name := range []string{"a", "b", "c"} {
			roots = append(roots, filepath.Join(o.Roots[0], name))
			if err := os.Mkdir(roots[len(roots)-1], 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o.Roots = roots
	})
	for _, i := range []int{0, 1, 0, 2, 0} {
		if _, err := g.Ask(t.Context(), Query{Operation: Definitions, Path: filepath.Join(roots[i], "x.fake"), Line: 1, Column: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.count(); n != 3 {
		t.Errorf("%d starts, want 3: the first server was to stay", n)
	}
	if n := len(g.slots); n != 2 {
		t.Errorf("%d servers run", n)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	t.Run("a server that does not end", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, "stubborn", func(o *Options) { o.Grace = 50 * time.Millisecond })
		if _, err := g.ask(t, Definitions); err != nil {
			t.Fatal(err)
		}
		g.Close()
		if g.live[0].cmd.ProcessState == nil {
			t.Error("it is still there")
		}
	})
	t.Run("a query under way", func(t *testing.T) {
		t.Parallel()
		g := newGround(t, "hang")
		asked := make(chan error, 1)
		go func() {
			_, err := g.Ask(t.Context(), Query{Operation: Definitions, Path: g.path("a.fake"), Line: 1, Column: 1})
			asked <- err
		}()
		for g.count() == 0 {
			time.Sleep(time.Millisecond)
		}
		g.Close()
		if err := <-asked; !errors.Is(err, ErrClosed) {
			t.Errorf("error %v", err)
		}
		if _, err := g.Ask(t.Context(), Query{Operation: Definitions, Path: g.path("a.fake")}); !errors.Is(err, ErrClosed) {
			t.Errorf("afterwards: %v", err)
		}
	})
}
