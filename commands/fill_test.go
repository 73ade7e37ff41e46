package commands

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommand_Fill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, typed, want string
		layout            layout
		text              string
	}{
		{"all as it was typed", `a "b c"  d`, `Do a "b c"  d.`, ownLayout, "Do $ARGUMENTS."},
		{"from one", `one "two 2" 'three'`, "one, two 2 and three", ownLayout, "$1, $2 and $3"},
		{"from one in the layout of another program", "one two", "one, two", claudeLayout, "$1, $2"},
		{"from zero, as $0 says", "one two", "one, two", claudeLayout, "$0, $1"},
		{"from zero, as an index says", "one two", "one, two", claudeLayout, "$ARGUMENTS[0], $1"},
		{"names", "12 main", "Fix 12 on main, not $issues", claudeLayout, "---\narguments: [issue, branch]\n---\nFix $issue on $branch, not $issues"},
		{"names in one text", "12 main", "12 main", ownLayout, "---\narguments: issue branch\n---\n$issue $1"},
		{"a missing one stays", "one", "one and $2", claudeLayout, "$1 and $2"},
		{"a missing one goes in opencode", "one", "one and .", opencodeLayout, "$1 and $2."},
		{"the highest takes the rest in opencode", `sel "the auth" module`, "sel: the auth module", opencodeLayout, "$1: $2"},
		{"no index in opencode", "one", "one[0] $0", opencodeLayout, "$ARGUMENTS[0] $0"},
		{"what is put in is not looked through", "$2 $ARGUMENTS", "$2 then $ARGUMENTS", ownLayout, "$1 then $2"},
		{"what was put in nowhere follows", "a b", "Review.\n\na b", ownLayout, "Review."},
		{"what was put in nowhere follows, labelled", "a b", "Review.\n\nARGUMENTS: a b", claudeLayout, "Review."},
		{"nothing typed", "", "Review .", claudeLayout, "Review $ARGUMENTS."},
		{"a price", "x", "$5k, $1000 and $ for x", ownLayout, "$5k, $1000 and $ for $1"},
		{"a quote that is not closed", "it's here", "it's", ownLayout, "$1"},
		{"quotes within quotes", `"{ \"k\": 1 }" c:\x`, `{ "k": 1 } c:\x`, ownLayout, "$1 $2"},
		{"an empty argument", `"" x`, "[] x", ownLayout, "[$1] $2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := parse("x", tt.layout, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Fill(tt.typed)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v, text (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestCommand_FillIsBounded(t *testing.T) {
	t.Parallel()
	c, err := parse("x", ownLayout, []byte(strings.Repeat("$ARGUMENTS", 6000)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := c.Fill(strings.Repeat("x", 1<<20)); err == nil {
		t.Errorf("%d bytes and no error", len(text))
	}
}

// FuzzFill holds that no file and nothing that is typed breaks a command, that a text is bounded,
// and that what was typed is in it or has no place in it.
func FuzzFill(f *testing.F) {
	for _, seed := range [][2]string{
		{"---\narguments: [a, b]\ndescription: x: y\n---\n$a ${b} $ARGUMENTS[1] $0", `one "two`},
		{"$1$2$", "a b c"},
		{"$ARGUMENTS[", "x"},
		{"---\n---\n$999", `"\"`},
		{"!`ls` @a.go", "@$1"},
		{"---\nargument-hint: [a] [b]\n---\nx", "\x00"},
		{"---\nuser-invocable: false\n---\nx\u202e", " "},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, typed string) {
		for _, l := range []layout{ownLayout, claudeLayout, opencodeLayout} {
			c, err := parse("x", l, []byte(text))
			if err != nil {
				continue
			}
			if c.Description == "" || c.Hint == "" || strings.ContainsAny(c.Description+c.Hint, "\n\r") {
				t.Fatalf("description %q, hint %q", c.Description, c.Hint)
			}
			filled, err := c.Fill(typed)
			if err != nil {
				continue
			}
			if len(filled) > maxPrompt {
				t.Fatalf("%d bytes", len(filled))
			}
			if strings.IndexByte(c.body, '$') < 0 && !strings.Contains(filled, typed) {
				t.Errorf("%q is not in %q", typed, filled)
			}
			for _, path := range Mentions(filled) {
				if path == "" || !strings.Contains(filled, path) {
					t.Errorf("%q is not mentioned in %q", path, filled)
				}
			}
		}
	})
}

func TestMentions(t *testing.T) {
	t.Parallel()
	got := Mentions("See @a/b.go, (@c.md) and @\"d e.txt\". Not x@y.z; `@f.go` once, @a/b.go twice.\n@../up.txt!")
	if diff := cmp.Diff([]string{"a/b.go", "c.md", "d e.txt", "f.go", "../up.txt"}, got); diff != "" {
		t.Errorf("mentions (-want +got):\n%s", diff)
	}
}
