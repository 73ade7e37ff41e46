package rules

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// formerWords are words that this code used in a sense of its own, each with the word that
// a reader knows. They are looked for in identifiers, comments and documents, not in string
// literals, which may hold the words of another program.
var formerWords = []struct{ word, instead string }{
	{`stances?`, "mode policy"},
	{`footing`, "agent policy"},
	{`strays`, "abandoned goroutines"},
	{`(?:in)?discreet(?:ly)?`, "redact"},
	{`deaf(?:ness)?`, "inbox closed, write grace"},
	{`hush(?:ed)?`, "mute"},
	{`(?:the|a|another) persons?|persons?'s`, "the user"},
	{`somebody|anybody`, "name the actor"},
	{`nobody`, "no one, or name the actor"},
	{`whoever`, "name the actor"},
	{`last words`, "stderr tail"},
	{`those who`, "name the actors"},
	{`(?:has|have) begun`, "has started"},
	{`foresee|foretell|foretold`, "dry run"},
}

func TestRules_Words(t *testing.T) {
	form, instead := formerWordForms()
	anyForm := formerWordForm(formerWordTexts()...)
	report := func(where, text string) {
		if !anyForm.MatchString(text) {
			return
		}
		for i, m := range form {
			if found := m.FindString(text); found != "" {
				t.Errorf("%s: %q: write %q (rules_words_test.go)", where, found, instead[i])
			}
		}
	}
	for _, s := range sources(t) {
		if s.generated || s.name == "rules_words_test.go" {
			continue
		}
		eachText(s, report)
	}
	for name, text := range documents(t) {
		for i, line := range strings.Split(text, "\n") {
			report(name+":"+strconv.Itoa(i+1), line)
		}
	}
}

func formerWordForms() (form []*regexp.Regexp, instead []string) {
	for _, w := range formerWords {
		form = append(form, formerWordForm(w.word))
		instead = append(instead, w.instead)
	}
	return form, instead
}

func formerWordTexts() (words []string) {
	for _, w := range formerWords {
		words = append(words, w.word)
	}
	return words
}

// formerWordForm matches any of the words.
func formerWordForm(words ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b`)
}

// eachText calls f with each line of a file's comments and each identifier that it declares,
// the latter as separate words.
func eachText(s source, f func(where, text string)) {
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			first := 1 + bytes.Count(s.text[:c.Pos()-s.file.FileStart], []byte("\n"))
			for i, line := range strings.Split(c.Text, "\n") {
				f(s.name+":"+strconv.Itoa(first+i), line)
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Obj != nil && id.Obj.Pos() == id.Pos() {
			f(s.line(id), wordsOf(id.Name))
		}
		return true
	})
	for _, d := range s.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			f(s.line(d), wordsOf(d.Name.Name))
		}
	}
}

var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// wordsOf takes an identifier in camel case apart.
func wordsOf(name string) string {
	return strings.ReplaceAll(hump.ReplaceAllString(name, "$1 $2"), "_", " ")
}

// documents are the Markdown files of the repository, but for those under testdata.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != "." && (base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
			return filepath.SkipDir
		}
		if d.IsDir() || path.Ext(base) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		found[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestRules_Codes holds that each short code which a comment cites is defined: a requirement
// is a row of docs/requirements.md, see TestRules_Requirements, and any other code is one of
// docs/security.md.
func TestRules_Codes(t *testing.T) {
	promises, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]\d+(?:, [A-Z]\d+)*) \|`).FindAllSubmatch(promises, -1) {
		for code := range strings.SplitSeq(string(row[1]), ", ") {
			defined[code] = true
		}
	}
	if len(defined) < 50 {
		t.Fatalf("docs/security.md defines %d codes: the search is broken", len(defined))
	}
	// A code stands alone or in a list; a letter and a number in a longer word are a name.
	codes := regexp.MustCompile(`(?:^|[\s(;])([A-Z]\d{1,2}|[A-Z][-.]\d{1,2})(?:[\s),;:.]|$)`)
	for _, s := range sources(t) {
		if s.generated {
			continue
		}
		for _, group := range s.file.Comments {
			for _, m := range codes.FindAllStringSubmatch(group.Text(), -1) {
				if code := m[1]; code[0] != 'R' && !defined[code] && !slices.Contains(modelNames, code) {
					t.Errorf("%s: nothing defines %s: say it in words, or add it to docs/security.md", s.line(group), code)
				}
			}
		}
	}
}

// modelNames are names of models that look like codes.
var modelNames = []string{"K2", "K3", "M2"}
