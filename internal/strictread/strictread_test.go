package strictread_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/strictread"
)

// places returns the line and column of each field.
func places(n *strictread.Node) map[string]strictread.Position {
	at := map[string]strictread.Position{}
	n.Walk(func(field string, position strictread.Position) { at[field] = position })
	return at
}

func TestRead_BothLanguages(t *testing.T) {
	t.Parallel()
	const want = `{"a":[1,"b",null,true],"c d":{}}`
	for _, tt := range []struct {
		name, text string
		read       func([]byte) (*strictread.Node, error)
		places     map[string]strictread.Position
	}{
		{
			"JSON", "\ufeff{ // first\n  \"a\": [1, \"b\", null, true,],\n  \"c d\": {}}", strictread.JSONC,
			map[string]strictread.Position{"": {1, 1}, "a": {2, 3}, "a[0]": {2, 9}, "a[1]": {2, 12}, "a[2]": {2, 17}, "a[3]": {2, 23}, "c d": {3, 3}},
		},
		{
			"YAML", "a:\n- 1\n- b\n- ~\n- true\n'c d': {}\n", strictread.YAML,
			map[string]strictread.Position{"": {1, 1}, "a": {1, 1}, "a[0]": {2, 3}, "a[1]": {3, 3}, "a[2]": {4, 3}, "a[3]": {5, 3}, "c d": {6, 1}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, err := tt.read([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(root.JSON()); got != want {
				t.Errorf("as JSON: %s, want %s", got, want)
			}
			if diff := cmp.Diff(tt.places, places(root)); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRead_Mistakes(t *testing.T) {
	t.Parallel()
	front := func(text []byte) (*strictread.Node, error) {
		return strictread.FrontMatter(text, strictread.Options{MaxNodes: 5})
	}
	for _, tt := range []struct {
		name, text string
		read       func([]byte) (*strictread.Node, error)
		want       string
	}{
		{"JSON that ends", "{\n", strictread.JSONC, "line 2, column 1: "},
		{"JSON with a key in it", `{"key": sk-123}`, strictread.JSONC, "line 1, column 9: invalid literal (a text needs double quotes and valid escapes)"},
		{"a name twice", "{\"a\": {\"b\": 1,\n\"b\": 2}}", strictread.JSONC, "line 2, column 1: a.b: is set twice; keep one"},
		{"a name twice in YAML", "a:\n- b: 1\n  b: 2\n", strictread.YAML, "line 3, column 3: a[0].b: is set twice; keep one"},
		{"two documents", "a: 1\n---\nb: 1\n", strictread.YAML, "it holds more than one document"},
		{"an anchor", "a: &x 1\n", strictread.YAML, "line 1, column 4: a: an anchor or alias"},
		{"a merge", "<<: {a: 1}\n", strictread.YAML, "line 1, column 1: a field needs a plain name"},
		{"no JSON form", "a: .inf\n", strictread.YAML, "line 1, column 4: a: expects a number"},
		{"another type", "a: !!binary aGk=\n", strictread.YAML, "line 1, column 4: a: values of type !!binary are not supported"},
		{"the line of a slip", "a: 1\nb:\n  - c\n d: 1\n", strictread.YAML, "line 4, column 1: "},
		{"front matter, whose fence counts", "a: [1\n", front, "line 2, column 1: "},
		{"too many values", "a: [1, 2, 3, 4, 5, 6]\n", front, "line 2, column 14: its front matter holds more than 5 values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, err := tt.read([]byte(tt.text))
			if _, ok := errors.AsType[*strictread.Error](err); !ok || !strings.HasPrefix(err.Error(), tt.want) && !strings.HasSuffix(err.Error(), tt.want) {
				t.Fatalf("root %v, error %v, want %s", root, err, tt.want)
			}
			if strings.Contains(err.Error(), "sk-123") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		tolerant   bool
		want       string // as JSON
	}{
		{"nothing", "", false, `{}`},
		{"a colon without quotes", "name: x\ndescription: Use when: it's late # or early\n", false, `{"name":"x","description":"Use when: it's late # or early"}`},
		{"not UTF-8", "name: a\xffb\n", false, `{"name":"a` + "\ufffd" + `b"}`},
		{"an alias of a text", "a: &x text\nb: *x\n", true, `{"a":"text","b":"text"}`},
		{"an alias of a list", "a: &x [1]\nb: *x\n", true, `{"a":[1],"b":null}`},
		{"a name twice", "a: 1\na: 2\n", true, `{"a":1,"a":2}`},
		{"another type", "a: !!binary aGk=\n", true, `{"a":"aGk="}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, err := strictread.FrontMatter([]byte(tt.text), strictread.Options{Tolerant: tt.tolerant})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(root.JSON()); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, front, body string
		err                     error
	}{
		{"whole", "---\na: 1\n---\nbody\n", "a: 1\n", "body\n", nil},
		{"blanks and CRLF", "\ufeff--- \r\na: 1\r\n---\t\r\nbody", "a: 1\r\n", "body", nil},
		{"nothing in it", "---\n---", "", "", nil},
		{"no fence", "\ufeffbody", "", "body", strictread.ErrNoFence},
		{"open", "---\na: 1\n", "", "---\na: 1\n", strictread.ErrOpenFence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			front, body, err := strictread.Split([]byte(tt.text))
			if string(front) != tt.front || string(body) != tt.body || !errors.Is(err, tt.err) {
				t.Errorf("front %q, body %q, error %v; want %q, %q, %v", front, body, err, tt.front, tt.body, tt.err)
			}
		})
	}
}

// FuzzRead holds that no text breaks a reader, and that what one takes is JSON whose fields
// have places within the text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, {"b": null}],} // c`, "a: {? {b: c} : d}\n", "a: &x [*x]\n", "---\nname: x: y\n---\n", "a: !!binary aGk=\n", "{\"a\": \"\\ud83d\"}", "\ufeff", "a: 0x10\nb: 1_000\nc: .nan\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tolerant := func(data []byte) (*strictread.Node, error) {
			return strictread.FrontMatter(data, strictread.Options{Tolerant: true})
		}
		for _, read := range []func([]byte) (*strictread.Node, error){strictread.JSONC, strictread.YAML, tolerant} {
			root, err := read(text)
			if err != nil {
				if _, ok := errors.AsType[*strictread.Error](err); !ok || root != nil {
					t.Fatalf("root %v, error %v", root, err)
				}
				continue
			}
			if !json.Valid(root.JSON()) {
				t.Errorf("%q is no JSON", root.JSON())
			}
			lines := 3                                                               // front matter has its fence, and nothing may stand after the last line
			for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} { // YAML knows all of them
				lines += strings.Count(string(text), end)
			}
			root.Walk(func(field string, at strictread.Position) {
				if at.Line < 1 || at.Line > lines || at.Column < 1 {
					t.Errorf("%q stands at %v of %d lines", field, at, lines)
				}
			})
		}
	})
}
