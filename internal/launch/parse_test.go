package launch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSpec_RoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := Spec{
		Text:   "printf '\xff' \"$A\"\n-x",
		Shell:  Shell{Path: dir, Args: []string{"-c", "--"}},
		Dir:    dir,
		Env:    []string{"A=\xff=\n", "B="},
		Limits: Limits{CPU: 1, Processes: 1 << 40},
		Policy: []byte(`{"a":1}`),

		openFiles: &openFiles{Soft: 256, Hard: 1 << 40},
	}
	line, err := want.encode(channels{}, "B=2", "C=3")
	if err != nil {
		t.Fatal(err)
	}
	got, c, err := decodeSpec(line)
	if err != nil || c != (channels{}) {
		t.Fatalf("got channels %v, error %v", c, err)
	}
	want.Env = []string{"A=\xff=\n", "B=2", "C=3"}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Spec{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if strings.Count(string(line), "\n") != 1 {
		t.Errorf("not one line: %q", line)
	}
}

func TestDecodeSpec_OtherVersion(t *testing.T) {
	t.Parallel()
	if _, _, err := decodeSpec([]byte(`{"v":99}`)); err == nil || !strings.Contains(err.Error(), "restart the agent") {
		t.Errorf("got %v; want advice to restart", err)
	}
}

func TestParseStop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want time.Duration
		ok   bool
	}{
		{"stop 0\n", 0, true},
		{"stop 2000\n", 2 * time.Second, true},
		{"stop 20", 20 * time.Millisecond, true},
		{"stop -1\n", 0, false},
		{"stop 99999999999999\n", 0, false},
		{"stop\n", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		got, ok := parseStop(tt.line)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("parseStop(%q) = %v, %v; want %v, %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

func TestDecodeRecord_Crash(t *testing.T) {
	t.Parallel()
	if got := decodeRecord([]byte("fatal error: all goroutines are asleep\n")); !strings.Contains(got.Error, "asleep") {
		t.Errorf("got %+v; want the helper's own words", got)
	}
}

func FuzzDecodeSpec(f *testing.F) {
	f.Add([]byte(`{"v":2,"text":"dHJ1ZQ==","path":"/bin/sh","args":["-c","--"],"dir":"Lw==","env":"QT0x"}`))
	f.Add([]byte(`{"v":2,"argv":"L2Jpbi90cnVlAAA=","dir":"Lw==","stdin":3,"stderr":4}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, pipes, err := decodeSpec(line)
		if err != nil {
			return
		}
		again, err := s.encode(pipes)
		if err != nil {
			t.Fatalf("decoded but cannot be encoded: %v", err)
		}
		if _, _, err := decodeSpec(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

func FuzzEnv(f *testing.F) {
	f.Add("A", "sk-abcdefghijklmnopqrstuvwx")
	f.Add("PATH", "/usr/bin::./x")
	f.Add("T", "eyJhbGciOi.eyJhbGciOi.abcdefghijk eyJ")
	f.Add("U", "http://a:b@c://d")
	f.Fuzz(func(t *testing.T, name, value string) {
		const secret = "configured-secret"
		env, _ := Env([]string{name + "=" + value, "X=" + value + secret}, EnvOptions{Secrets: []string{secret}})
		for _, e := range env {
			if strings.Contains(e, secret) && !strings.Contains(name+"="+value, secret) {
				t.Errorf("%q holds the secret", e)
			}
			if strings.ContainsRune(e, 0) {
				t.Errorf("%q holds a NUL", e)
			}
		}
		if again, _ := Env(env, EnvOptions{}); !slices.Equal(sorted(env), sorted(again)) {
			t.Errorf("a second sweep changes %q to %q", env, again)
		}
	})
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// TestProcess_OneEnd holds that only the first end that a helper reports counts.
func TestProcess_OneEnd(t *testing.T) {
	t.Parallel()
	p := newProcess("", nil, &link{})
	close(p.drained)
	var last record
	p.note(record{Status: &Status{ExitCode: 3}}, &last)
	p.note(record{Status: &Status{ExitCode: 4}}, &last)
	if status, err := p.Wait(t.Context()); err != nil || status.ExitCode != 3 {
		t.Errorf("got %+v, %v", status, err)
	}
}
