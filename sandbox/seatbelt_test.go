package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The last rule that fits counts, so what is taken away beneath a directory comes
// after what gives it.
func TestSeatbeltProfile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"p/.git/hooks", "own/s1/scratch", `a "quoted" one`} {
		if err := os.MkdirAll(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := Policy{
		Kind: Seatbelt, Program: "/usr/bin/sandbox-exec", Writable: []string{in("p"), in("own/s1/scratch"), in(`a "quoted" one`)},
		ReadOnly: []string{in("p/.git/hooks"), in("absent")}, Masked: []string{in("own")}, Readable: []string{in("own/s1")},
	}
	argv := p.seatbeltArgv([]string{"/bin/sh", "-c", "true"})
	if want := []string{"/usr/bin/sandbox-exec", "-p", argv[2], "/bin/sh", "-c", "true"}; !slices.Equal(argv, want) {
		t.Errorf("argv %q", argv)
	}
	profile := argv[2]
	at := -1
	for _, rule := range []string{
		"(deny file-write*)", "(deny network*)",
		"(allow file-read* file-write* (subpath \"" + strings.ReplaceAll(in(`a "quoted" one`), `"`, `\"`) + "\"))",
		`(deny file-read* file-write* network-outbound (subpath "` + in("own") + `"))`,
		`(allow file-read* (subpath "` + in("own/s1") + `"))`,
		`(allow file-read* file-write* (subpath "` + in("own/s1/scratch") + `"))`,
		`(allow file-read* file-write* (subpath "` + in("p") + `"))`,
		`(deny file-write* (subpath "` + in("p/.git/hooks") + `"))`,
	} {
		i := strings.Index(profile, rule)
		if i <= at {
			t.Fatalf("rule %s at %d, after %d, in\n%s", rule, i, at, profile)
		}
		at = i
	}
	if strings.Contains(profile, "absent") {
		t.Errorf("what is not there has a rule:\n%s", profile)
	}
	if strings.Contains(profile, "(allow network") {
		t.Errorf("something is open without a proxy:\n%s", profile)
	}
	p.Proxy = 4711
	if profile := p.seatbeltProfile(); strings.Count(profile, "network*") != 1 || strings.Count(profile, "(allow network") != 1 ||
		!strings.Contains(profile, "(deny network*)\n(allow network-outbound (remote ip \"localhost:4711\"))\n") {
		t.Errorf("the proxy's port is not all that is open:\n%s", profile)
	}
	p.Network, p.Proxy = true, 0
	if strings.Contains(p.seatbeltProfile(), "network*") {
		t.Error("the network stays closed")
	}
}

func TestHolding(t *testing.T) {
	dir := t.TempDir()
	made, used, there := filepath.Join(dir, "made"), filepath.Join(dir, "used"), filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	var h mountPoints
	all := []string{made, used, there, filepath.Join(dir, "no", "parent")}
	first, second := h.acquire("", all), h.acquire("", all)
	first()
	first() // once is enough
	if missing(made) {
		t.Error("a directory that is still needed was removed")
	}
	if err := os.WriteFile(filepath.Join(used, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second()
	if !missing(made) || missing(used) || missing(there) {
		t.Errorf("made is left %v, used %v, there %v; want false, true, true", !missing(made), !missing(used), !missing(there))
	}
}

// A program of the user's has all but what is covered: no rule opens anything, and each closes.
func TestSeatbeltProfile_Outside(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Kind: Seatbelt, Outside: true, Network: true, Masked: []string{dir, filepath.Join(dir, "within")}}
	want := "(version 1)\n(allow default)\n(deny file-read* file-write* process-exec* network-outbound (subpath " + strconv.Quote(dir) + "))\n"
	if profile := p.seatbeltProfile(); profile != want {
		t.Errorf("%s", profile)
	}
}
