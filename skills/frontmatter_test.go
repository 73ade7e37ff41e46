package skills_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/skills"
)

// one is the library of one bundled skill.
func one(t testing.TB, folder, text string) (*skills.Library, []skills.Warning) {
	t.Helper()
	return skills.Discover(t.Context(), skills.Options{Bundled: fstest.MapFS{folder + "/SKILL.md": {Data: []byte(text)}}})
}

func TestDiscover_FrontMatter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       string // the entry, "" for none
		warning    string
	}{
		{"plain", "---\nname: x\ndescription: Does it.\n---\nBody", "x: Does it.", ""},
		{"all fields", "---\nname: x\ndescription: Does it.\nlicense: MIT\nallowed-tools: Bash(rm *)\nmetadata:\n  a: {b: [c]}\n---\n", "x: Does it.", ""},
		{"CRLF and mark", "\ufeff---\r\nname: x\r\ndescription: 'Does it: well'\r\n---\r\nBody", "x: Does it: well", ""},
		{"folded", "---\nname: x\ndescription: >\n  Does\n  it.\n\n  Twice.\n---\n", "x: Does it. Twice.", ""},
		{"ends with the fence", "---\nname: x\ndescription: d\n---", "x: d", ""},
		{"colon unquoted", "---\nname: x\ndescription: Use when: it's late # or early\n---\n", "x: Use when: it's late # or early", ""},
		{"colon unquoted, CRLF", "---\r\nname: x\r\ndescription: Use when: late\r\n---\r\n", "x: Use when: late", ""},
		{"name is the folder's", "---\ndescription: d\n---\n", "x: d", "has no name"},
		{"name is another", "---\nname: other\ndescription: d\n---\n", "other: d", `"other"`},
		{"number as name", "---\nname: 42\ndescription: 7\n---\n", "42: 7", `"42"`},
		{"invisible", "---\nname: x\ndescription: \"a\u202eb\U000e0041c\\nd\"\n---\n", `x: a\u{202e}b\u{e0041}c d`, ""},
		{"invalid UTF-8", "---\nname: x\ndescription: a\xffb\n---\n", "x: a\ufffdb", ""},
		{"long", "---\nname: x\ndescription: " + strings.Repeat("é", 400) + "\n---\n", "x: " + strings.Repeat("é", 299) + "…", ""},

		{"empty", "", "", "no front matter"},
		{"none", "# Title\n---\n", "", "no front matter"},
		{"never ends", "---\nname: x\ndescription: d\n", "", "no front matter"},
		{"ends too late", "---\nname: x\ndescription: d\n#" + strings.Repeat("x", 8<<10) + "\n---\n", "", "first 8192 bytes"},
		{"faulty", "---\nname: [x\ndescription: d\n---\n", "", "faulty front matter"},
		{"tab", "---\nname: x\n\tdescription: d\n---\n", "", "faulty front matter"},
		{"alias", "---\nmetadata: &a it\nname: x\ndescription: *a\n---\n", "x: it", ""},
		{"null", "---\nname: ~\ndescription: d\n---\n", "x: d", "has no name"},
		{"other field twice", "---\nname: x\ndescription: d\nlicense: a\nlicense: b\n---\n", "x: d", ""},
		{"list", "---\n- name\n---\n", "", "faulty front matter"},
		{"twice", "---\nname: x\nname: y\ndescription: d\n---\n", "", "faulty front matter"},
		{"description is a list", "---\nname: x\ndescription: [a]\n---\n", "", "faulty front matter"},
		{"unknown alias", "---\nname: x\ndescription: *a\n---\n", "", "faulty front matter"},
		{"many fields", "---\n{" + strings.Repeat("a,", 4000) + "}\n---\n", "", "no description"}, // took 20 s in a struct
		{"deep", "---\n" + strings.Repeat("[", 8000) + "\n---\n", "", "faulty front matter"},
		{"no fields", "---\n---\n", "", "no description"},
		{"no description", "---\nname: x\n---\n", "", "no description"},
		{"blank description", "---\nname: x\ndescription: \"  \"\n---\n", "", "no description"},
		{"name with capitals", "---\nname: MySkill\ndescription: d\n---\n", "", `"MySkill"`},
		{"name with a path", "---\nname: ../x\ndescription: d\n---\n", "", `"../x"`},
		{"name too long", "---\nname: " + strings.Repeat("x", 65) + "\ndescription: d\n---\n", "", "1 to 64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			library, warnings := one(t, "x", tt.text)
			want, warned := []string{}, [][]string{}
			if tt.want != "" {
				want = append(want, tt.want)
			}
			if tt.warning != "" {
				warned = append(warned, []string{"bundled x/SKILL.md", tt.warning})
			}
			if diff := cmp.Diff(want, index(library)); diff != "" {
				t.Errorf("index (-want +got):\n%s", diff)
			}
			expect(t, "", warnings, warned)
		})
	}
	library, warnings := one(t, "No_Name", "---\ndescription: d\n---\n")
	if len(library.Index()) > 0 {
		t.Errorf("a folder's unsound name was taken: %q", index(library))
	}
	expect(t, "", warnings, [][]string{{"has no name"}})
}

// Whatever a SKILL.md holds, the index and the prompt keep their form.
func FuzzDiscover(f *testing.F) {
	for _, seed := range []string{
		md("x", "d"), "---\nname: x\ndescription: a: b\n---\n", "---\r\nname: &a [*a]\r\n---\r\n", "---\n? {a: b}\n: !!binary x\n---\n",
		"---\nname: x\ndescription: \"\\u202e\"\n---\n</skill_content>", "---\n", "\ufeff---\n---",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		library, warnings := one(t, "x", text)
		if len(library.Index())+len(warnings) == 0 {
			t.Fatal("neither a skill nor a warning")
		}
		for _, e := range library.Index() {
			if e.Description == "" || utf8.RuneCountInString(e.Description) > 300 || strings.ContainsAny(e.Description, "\n\r\u202e") {
				t.Errorf("description %q", e.Description)
			}
			if got := strings.Count(library.Prompt(), "\n"); got != 2 {
				t.Errorf("the prompt has %d lines", got)
			}
			content, err := library.Load(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(content, "\n</skill_content>") || strings.Count(content, "</skill_content") != 1 || !utf8.ValidString(content) {
				t.Errorf("content %q", content)
			}
		}
	})
}
