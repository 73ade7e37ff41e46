package sandbox

import (
	"slices"
	"strings"
	"testing"
)

// TestMounted is S1: a command does not start where something else was mounted than what the policy shows, or
// something is mounted elsewhere.
func TestMounted(t *testing.T) {
	t.Parallel()
	table, _, err := mounts()
	if err != nil {
		t.Fatal(err)
	}
	mine := slices.IndexFunc(table, func(m mount) bool { return m.Path == "/" })
	others := slices.Delete(slices.Clone(table), mine, mine+1)
	root := table[mine]
	elsewhere := mount{"/home/ann/.config", root.Device, "/home/ann/.config"}
	for _, tt := range []struct {
		name string
		w    wantedMounts
		want string
	}{
		{"what the machine has", wantedMounts{Machine: table}, ""},
		{"a mount that is shown", wantedMounts{Machine: append(slices.Clone(others), elsewhere), Shown: []mount{root}}, ""},
		{"a mount of the machine's disk that is not", wantedMounts{Machine: append(slices.Clone(others), elsewhere)}, "has become something else"},
		{"a path that is covered", wantedMounts{Machine: table, Needed: []string{"/proc"}}, ""},
		{"a path that is not", wantedMounts{Machine: table, Needed: []string{"/nothing/here"}}, "was moved"},
	} {
		if err := tt.w.check(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
