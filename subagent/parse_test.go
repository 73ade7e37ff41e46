package subagent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/subagent"
)

func TestParseManifest(t *testing.T) {
	const whole = "---\nname: fix\ndescription: Mends things.\ntools: [read, edit]\nalways: [apply_patch]\n" +
		"requires:\n  fs:\n    read: ['{workspace}/docs/**']\n  net:\n    hosts: [go.dev]\n---\nYou mend things.\n"
	got, err := subagent.ParseManifest("fix.md", []byte(whole))
	want := subagent.Manifest{
		Name: "fix", Description: "Mends things.", Prompt: "You mend things.\n", Tools: []string{"read", "edit"}, Always: []string{"apply_patch"},
		Requires: capability.RequirementSet{
			FS: capability.FS{Read: []string{"{workspace}/docs/**"}}, Net: capability.Net{Hosts: []string{"go.dev"}},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, manifest (-want +got):\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"does not begin with front matter": "You mend things.",
		"is not closed":                    "---\nname: fix\n",
		"has no name":                      "---\ndescription: d\n---\np\n",
		"has no description":               "---\nname: n\n---\np\n",
		"has no prompt":                    "---\nname: n\ndescription: d\n---\n\n",
		"unknown field":                    "---\nname: n\ndescription: d\ncolour: red\n---\np\n",
		"yaml:":                            "---\nname: [n\n---\np\n",
	} {
		if _, err := subagent.ParseManifest("x.md", []byte(text)); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "x.md") {
			t.Errorf("error %v, want one with %q and the file's name", err, name)
		}
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte("---\nname: n\ndescription: d\n---\np\n"))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := subagent.ParseManifest("x.md", text)
		if err == nil && (m.Name == "" || m.Prompt == "") {
			t.Errorf("%+v was accepted", m)
		}
	})
}
