package textedit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/textedit"
)

func TestApply(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content, old, new string
		all                     bool
		want                    textedit.Result
	}{
		{
			name: "one line", content: "a\nb\nc\n", old: "b", new: "B",
			want: textedit.Result{Content: "a\nB\nc\n", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "context lines are not part of the range", content: "a\nb\nc\n", old: "a\nb\nc", new: "a\nB\nc",
			want: textedit.Result{Content: "a\nB\nc\n", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "range counts in the new file", content: "a\nb\nc\n", old: "b\n", new: "1\n2\n3\n",
			want: textedit.Result{Content: "a\n1\n2\n3\nc\n", LineRange: [2]int{2, 4}, Replacements: 1},
		},
		{
			name: "insertion after a line", content: "a\nb", old: "a", new: "a\nx",
			want: textedit.Result{Content: "a\nx\nb", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "deletion", content: "a\nb\nc\n", old: "b\n", new: "",
			want: textedit.Result{Content: "a\nc\n", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "deletion of the last line", content: "a\nb\n", old: "b\n", new: "",
			want: textedit.Result{Content: "a\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "deletion of everything", content: "a\n", old: "a\n", new: "",
			want: textedit.Result{Content: "", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "all", content: "x\na\nx\n", old: "x", new: "y", all: true,
			want: textedit.Result{Content: "y\na\ny\n", LineRange: [2]int{1, 3}, Replacements: 2},
		},
		{
			name: "all with one match", content: "x\na\n", old: "x", new: "y", all: true,
			want: textedit.Result{Content: "y\na\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "new contains old", content: "x\n", old: "x", new: "xx", all: true,
			want: textedit.Result{Content: "xx\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "CRLF kept", content: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "a\nB\nB2\n",
			want: textedit.Result{Content: "a\r\nB\r\nB2\r\nc\r\n", LineRange: [2]int{2, 3}, Replacements: 1},
		},
		{
			name: "CRLF of the file for a span without line end", content: "a\r\nb\r\n", old: "b", new: "b\nc",
			want: textedit.Result{Content: "a\r\nb\r\nc\r\n", LineRange: [2]int{3, 3}, Replacements: 1},
		},
		{
			name: "CRLF in the arguments, LF in the file", content: "a\nb\n", old: "a\r\nb", new: "a\r\nc",
			want: textedit.Result{Content: "a\nc\n", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "mixed endings: unchanged lines keep theirs", content: "a\nb\r\nc\nd\r\n", old: "a\nb\nc\nd\n", new: "a\nb\nX\nd\n",
			want: textedit.Result{Content: "a\nb\r\nX\nd\r\n", LineRange: [2]int{3, 3}, Replacements: 1},
		},
		{
			name: "mixed endings: the prevailing one of the span", content: "a\nb\r\nc\nd\n", old: "a\nb\nc\n", new: "x\ny\nz\n",
			want: textedit.Result{Content: "x\ny\nz\nd\n", LineRange: [2]int{1, 3}, Replacements: 1},
		},
		{
			name: "line break removed with its CR", content: "a\r\nb\r\n", old: "a\nb", new: "ab",
			want: textedit.Result{Content: "ab\r\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "lone CR kept", content: "a\rb\nc\n", old: "c", new: "d",
			want: textedit.Result{Content: "a\rb\nd\n", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "BOM kept", content: "\ufeffa\nb\n", old: "a\n", new: "x\n",
			want: textedit.Result{Content: "\ufeffx\nb\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "BOM in the argument", content: "\ufeffa\nb\n", old: "\ufeffa\n", new: "\ufeffx\n",
			want: textedit.Result{Content: "\ufeffx\nb\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
		{
			name: "no final newline kept", content: "a\nb", old: "b", new: "c",
			want: textedit.Result{Content: "a\nc", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "invalid UTF-8 elsewhere kept", content: "\xff\xfe\nb\n", old: "b", new: "c",
			want: textedit.Result{Content: "\xff\xfe\nc\n", LineRange: [2]int{2, 2}, Replacements: 1},
		},
		{
			name: "trailing blanks forgiven", content: "a  \nb\t\nc\n", old: "a\nb", new: "a\nx",
			want: textedit.Result{Content: "a  \nx\nc\n", LineRange: [2]int{2, 2}, Replacements: 1, Fuzzy: true},
		},
		{
			name: "trailing blanks in old forgiven", content: "a\nb\nc\n", old: "a \nb ", new: "a \nx",
			want: textedit.Result{Content: "a\nx\nc\n", LineRange: [2]int{2, 2}, Replacements: 1, Fuzzy: true},
		},
		{
			name:    "indentation forgiven, the file's kept",
			content: "func f() {\n\tif x {\n\t\ta()\n\t}\n}\n",
			old:     "if x {\n    a()\n}",
			new:     "if x {\n    b()\n        c()\n}",
			want: textedit.Result{
				Content:   "func f() {\n\tif x {\n\t\tb()\n\t\t    c()\n\t}\n}\n",
				LineRange: [2]int{3, 4}, Replacements: 1, Fuzzy: true,
			},
		},
		{
			name: "missing final newline forgiven and kept", content: "a\nb", old: "b\n", new: "c\n",
			want: textedit.Result{Content: "a\nc", LineRange: [2]int{2, 2}, Replacements: 1, Fuzzy: true},
		},
		{
			name: "forgiven in a CRLF file", content: "a \r\n\tb\r\n", old: "a\n\tb\n", new: "a\n\tc\n\td\n",
			want: textedit.Result{Content: "a \r\n\tc\r\n\td\r\n", LineRange: [2]int{2, 3}, Replacements: 1, Fuzzy: true},
		},
		{
			name: "forgiven everywhere with all", content: "a \nb\na  \n", old: "a\t", new: "x", all: true,
			want: textedit.Result{Content: "x\nb\nx\n", LineRange: [2]int{1, 3}, Replacements: 2, Fuzzy: true},
		},
		{
			name: "exact match wins over a forgiven one", content: "\ta\na\n", old: "\ta", new: "\tb",
			want: textedit.Result{Content: "\tb\na\n", LineRange: [2]int{1, 1}, Replacements: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := textedit.Apply(context.Background(), tt.content, tt.old, tt.new, tt.all)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestApply_Refuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content, old, new string
		all                     bool
		want                    error
		text                    string
	}{
		{"same", "a", "a", "a", false, textedit.SameError{}, "old_str and new_str must be different"},
		{"same but for line ends", "a\nb", "a\nb", "a\r\nb", false, textedit.SameError{}, "old_str and new_str must be different"},
		{"same comes before not found", "a", "z", "z", false, textedit.SameError{}, "old_str and new_str must be different"},
		{"empty", "a", "", "b", false, textedit.EmptyError{}, "old_str must not be empty"},
		{"empty old and new", "a", "", "", false, textedit.EmptyError{}, "old_str must not be empty"},
		{"missing", "a", "b", "c", false, textedit.NotFoundError{}, "Could not find exact match for old_str"},
		{"missing with all", "a", "b", "c", true, textedit.NotFoundError{}, "Could not find exact match for old_str"},
		{
			"twice", "x x", "x", "y", false,
			textedit.MultipleError{Count: 2},
			"found multiple matches for edit (2 occurrences). Use replace_all or provide more context.",
		},
		{
			"overlapping", "aaa", "aa", "b", false,
			textedit.MultipleError{Count: 2},
			"found multiple matches for edit (2 occurrences). Use replace_all or provide more context.",
		},
		{
			"forgiven twice", "\ta\nb\n\t\ta\n", "  a", "c", false,
			textedit.MultipleError{Count: 2},
			"found multiple matches for edit (2 occurrences). Use replace_all or provide more context.",
		},
		{
			"twice over two line endings", "x\r\ny\nx\ny\n", "x\ny", "z", false,
			textedit.MultipleError{Count: 2},
			"found multiple matches for edit (2 occurrences). Use replace_all or provide more context.",
		},
		{"blanks alone are not forgiven", "a\n\t\nb", "  \n", "c", false, textedit.NotFoundError{}, "Could not find exact match for old_str"},
		{"another block structure", "if x {\n\ta()\nb()\n}\n", "  if x {\n    a()\n    b()\n  }", "c", false, textedit.NotFoundError{}, "Could not find exact match for old_str"},
		{"nesting turned round", "    if x:\na()\n", "if x:\n    a()", "c", false, textedit.NotFoundError{}, "Could not find exact match for old_str"},
		{"words are never forgiven", "foo(a, b)\n", "foo(a,b)", "c", false, textedit.NotFoundError{}, "Could not find exact match for old_str"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := textedit.Apply(context.Background(), tt.content, tt.old, tt.new, tt.all)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Apply = %+v, %v; want error %v", got, err, tt.want)
			}
			if err.Error() != tt.text {
				t.Errorf("error text %q, want %q", err, tt.text)
			}
		})
	}
}

func TestMatch_SpansInTheOriginal(t *testing.T) {
	t.Parallel()
	const content = "\ufeffa\r\nb\r\na\r\n"
	got, err := textedit.Match(content, "a\n", true)
	if err != nil {
		t.Fatal(err)
	}
	want := textedit.Matches{Spans: []textedit.Span{{3, 6}, {9, 12}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNearestHint(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("filler line\n", 40) + "func compute(a, b int) int {\n\treturn a + b\n}\n"
	for _, tt := range []struct{ name, content, old, want string }{
		{
			"near", content, "func compute(a, b int32) int {\n\treturn a + b\n}\n",
			"closest text is at lines 41-43:\nfunc compute(a, b int) int {\n\treturn a + b\n}",
		},
		{"CRLF", strings.ReplaceAll(content, "\n", "\r\n"), "return a - b", "closest text is at lines 42-42:\n\treturn a + b"},
		{"nothing near", content, "SELECT * FROM users", ""},
		{"empty file", "", "abc", ""},
		{"blank", content, " \n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, textedit.NearestHint(t.Context(), tt.content, tt.old)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
