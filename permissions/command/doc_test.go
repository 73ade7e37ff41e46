package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"acp-agent/permissions/command"
)

// TestDoc_Classes judges the example of each class in the package comment, and looks for a
// row of each class and for its file.
func TestDoc_Classes(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("class.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // the constants by class, each of which its file uses
	for _, m := range regexp.MustCompile(`(\w+) +Class += "([\w-]+)"`).FindAllStringSubmatch(string(source), -1) {
		names[m[2]] = m[1]
	}
	names["read-only"] = "allowed()" // which gives ReadOnly
	columns := regexp.MustCompile(`\s{2,}`)
	for line := range strings.Lines(string(doc)) {
		row := columns.Split(strings.TrimPrefix(strings.TrimSpace(line), "//\t"), -1)
		if len(row) != 5 || row[0] == "class" {
			continue
		}
		class, verdict, example, file := row[0], row[1], row[3], row[4]
		if strings.HasPrefix(example, "(a control") {
			example = "ls\x01"
		}
		v := command.Judge(example, testEnv())
		got := fmt.Sprint(v.Action)
		if v.Validation {
			got += " !"
		}
		if string(v.Class) != class || got != verdict {
			t.Errorf("%q is %s, %s; the package comment says %s, %s", example, v.Class, got, class, verdict)
		}
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), names[class]) {
			t.Errorf("class %s: %s has no %s (%v)", class, file, names[class], err)
		}
		delete(names, class)
	}
	for class := range names {
		t.Errorf("the package comment has no row for class %s", class)
	}
}

// TestDoc_Files holds that the package comment says of each file what it is for, and names no other.
func TestDoc_Files(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`[a-z]+\.go\b`).FindAllString(string(doc), -1)
	for _, file := range files {
		if !slices.Contains(named, file) && file != "doc.go" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("the package comment does not name %s", file)
		}
	}
	for _, name := range named {
		if !slices.Contains(files, name) {
			t.Errorf("the package comment names %s, which does not exist", name)
		}
	}
}
