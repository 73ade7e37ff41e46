package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// promptWith is a prompt with arguments, the required ones marked by "!".
func promptWith(names ...string) *Prompt {
	p := &Prompt{Command: "mcp:s:p"}
	for _, name := range names {
		plain := strings.TrimSuffix(name, "!")
		p.Arguments = append(p.Arguments, Argument{Name: plain, Required: plain != name})
	}
	return p
}

// R158: what is typed behind a prompt of a server fills in its arguments.
func TestPrompt_Fill(t *testing.T) {
	type values = map[string]string
	for _, tt := range []struct {
		name   string
		prompt *Prompt
		typed  string
		want   values
		err    string
	}{
		{"nothing for nothing", promptWith(), " ", values{}, ""},
		{"words by position", promptWith("x!", "y!", "z"), `a b "c d"`, values{"x": "a", "y": "b", "z": "c d"}, ""},
		{"the last one takes the rest, as it stands", promptWith("x!", "y"), "a  b  \"c\"\n d ", values{"x": "a", "y": "b  \"c\"\n d"}, ""},
		{"a name", promptWith("x!", "y", "key"), `a b key=value`, values{"x": "a", "y": "b", "key": "value"}, ""},
		{"a name out of order", promptWith("x!", "y"), `y='c d' a`, values{"x": "a", "y": "c d"}, ""},
		{"the last one by its name takes the rest", promptWith("x!", "y"), `a y=c d`, values{"x": "a", "y": "c d"}, ""},
		{"what is no name of an argument", promptWith("x!"), `if z=1 then`, values{"x": "if z=1 then"}, ""},
		{"an apostrophe", promptWith("x!", "y"), `don't 'tis so`, values{"x": "don't", "y": "'tis so"}, ""},
		{"a quotation within one", promptWith("x!", "y"), `'say "hi" now' then`, values{"x": `say "hi" now`, "y": "then"}, ""},
		{"a quotation without an end", promptWith("x!", "y"), `"a b`, values{"x": `"a`, "y": "b"}, ""},
		{"a path of Windows", promptWith("x!", "y"), `C:\a\b "C:\c d\"`, values{"x": `C:\a\b`, "y": `C:\c d\`}, ""},
		{"what is empty is not sent", promptWith("x!", "y"), `a y=`, values{"x": "a"}, ""},
		{"what is missing", promptWith("x!", "y!", "z"), "a", nil, "missing: y\ntype: /mcp:s:p <x> <y> [z]\n"},
		{"what must not be empty", promptWith("x!"), `""`, nil, "missing: x\ntype: /mcp:s:p <x>\n"},
		{"too much for nothing", promptWith(), "a", nil, "this prompt takes no arguments\ntype: /mcp:s:p"},
		{"all by their names", promptWith("x!", "y"), "y=b x=a", values{"x": "a", "y": "b"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.prompt.fill(tt.typed)
			if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzFill: whatever is typed, each value was typed and is the value of an argument, none
// that must be there is missing, and values in quotes come out as they went in.
func FuzzFill(f *testing.F) {
	for _, seed := range []string{"", "a b c", `x="a b" y='c'`, `"a`, "x= y=", "z=\t'' \"\"", "\u00a0x=1\n2"} {
		f.Add(seed)
	}
	p := promptWith("x!", "y", "z")
	f.Fuzz(func(t *testing.T, typed string) {
		values, err := p.fill(typed)
		if (values == nil) == (err == nil) {
			t.Fatalf("%q and %v", values, err)
		}
		for name, value := range values {
			if value == "" || !strings.Contains(typed, value) || !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == name }) {
				t.Errorf("%q has %q=%q", typed, name, value)
			}
		}
		if err == nil && values["x"] == "" {
			t.Errorf("%q left x out", typed)
		}
		if word := strings.TrimSpace(typed); word != "" && !strings.Contains(typed, `"`) {
			again, err := p.fill(`"` + typed + `" y="` + typed + `" "` + typed + `"`)
			if err != nil || again["x"] != typed || again["y"] != typed || again["z"] != typed {
				t.Errorf("%q in quotes became %q, %v", typed, again, err)
			}
		}
	})
}
