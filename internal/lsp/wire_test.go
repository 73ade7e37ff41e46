package lsp

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEncoding(t *testing.T) {
	t.Parallel()
	const text = "first\r\na𝄞é€b\r\n"
	tests := []struct {
		e      encoding
		column int
		want   int
	}{
		{utf8Units, 1, 0},
		{utf8Units, 5, 10},
		{utf16Units, 3, 3},
		{utf16Units, 5, 5},
		{utf32Units, 5, 4},
		{utf16Units, 6, 6},
		{utf16Units, 99, 6},
		{utf16Units, 0, 0},
	}
	for _, tt := range tests {
		got := tt.e.place(text, 2, tt.column)
		if got != (position{1, tt.want}) {
			t.Errorf("%s, column %d: %v, want character %d", tt.e, tt.column, got, tt.want)
		}
		if back := tt.e.column("a𝄞é€b", got.Character); tt.column > 0 && tt.column < 7 && back != tt.column {
			t.Errorf("%s, column %d and back: %d", tt.e, tt.column, back)
		}
	}
	if got := utf16Units.place("", 7, 3); got != (position{6, 0}) {
		t.Errorf("beyond the text: %v", got)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path      string
		installed []string
		want      string
	}{
		{"/a.go", []string{"gopls"}, "gopls"},
		{"/a.PY", []string{"pylsp", "pyright-langserver"}, "pyright"},
		{"/a.py", []string{"pylsp"}, "pylsp"},
		{"/a.tsx", []string{"typescript-language-server"}, "typescript-language-server"},
		{"/a.rs", nil, ""},
		{"/Makefile", []string{"gopls"}, ""},
	}
	for _, tt := range tests {
		s, err := choose(DefaultServers(), tt.path, func(name string) bool {
			for _, i := range tt.installed {
				if i == name {
					return true
				}
			}
			return false
		})
		if s.Name != tt.want || (tt.want == "") != errors.As(err, new(*MissingError)) {
			t.Errorf("%s: %q, %v; want %q", tt.path, s.Name, err, tt.want)
		}
	}
}

func TestDecodeLocations(t *testing.T) {
	t.Parallel()
	at := wireLocation{URI: "file:///a", Range: span{position{1, 2}, position{3, 4}}}
	const rng = `{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}`
	tests := []struct {
		name, in string
		want     []wireLocation
		fails    bool
	}{
		{"null", " null ", nil, false},
		{"nothing", "", nil, false},
		{"one", `{"uri":"file:///a","range":` + rng + `}`, []wireLocation{at}, false},
		{"list", `[{"uri":"file:///a","range":` + rng + `}]`, []wireLocation{at}, false},
		{"links", `[{"targetUri":"file:///a","targetSelectionRange":` + rng + `,"targetRange":{}}]`, []wireLocation{at}, false},
		{"text", `"no"`, nil, true},
		{"list of text", `["no"]`, nil, true},
	}
	for _, tt := range tests {
		got, err := decodeLocations(json.RawMessage(tt.in))
		if (err != nil) != tt.fails {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func FuzzLocations(f *testing.F) {
	f.Add(`[{"uri":"file:///a"}]`)
	f.Add(`"no"`)
	f.Fuzz(func(_ *testing.T, in string) {
		_, _ = decodeLocations(json.RawMessage(in)) // it must not panic
	})
}

func FuzzPosition(f *testing.F) {
	f.Add("a𝄞\nb\r\n", 2, 1)
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		if !utf8.ValidString(text) || line < 1 || line > 1000 || column < 1 {
			return
		}
		for _, e := range []encoding{utf8Units, utf16Units, utf32Units} {
			at := lineOf(text, line)
			got := e.column(at, e.place(text, line, column).Character)
			if want := min(column, utf8.RuneCountInString(at)+1); got != want {
				t.Errorf("%s: column %d of %q came back as %d", e, column, at, got)
			}
		}
	})
}
