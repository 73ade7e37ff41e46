package rules

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence       = regexp.MustCompile("(?ms)^```.*?^```")
	headingForm = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestRules_Links holds that each link from one document to a file of the repository, or to a
// section of a document, leads somewhere.
func TestRules_Links(t *testing.T) {
	all, anchors := documents(t), map[string]map[string]bool{}
	for name, text := range all {
		anchors[name] = anchorsOf(text)
	}
	for name, text := range all {
		for _, m := range linkForm.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // an address
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
			} else if anchor != "" && path.Ext(file) == ".md" && !anchors[file][anchor] {
				t.Errorf("%s: %s has no section #%s", name, file, anchor)
			}
		}
	}
}

// anchorsOf are the anchors of a document's headings, as GitHub makes them.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range headingForm.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		anchors[strings.ReplaceAll(title, " ", "-")] = true
	}
	return anchors
}

// TestRules_Map holds that the files which ARCHITECTURE.md names exist. In a row, a directory
// with a colon after it holds the files that follow: `session`: `trust.go`, `rules.go`.
func TestRules_Map(t *testing.T) {
	const name = "ARCHITECTURE.md"
	text := documents(t)[name]
	span := regexp.MustCompile("`([\\w./*-]+)`(:?)")
	for row := range strings.Lines(text) {
		if !strings.HasPrefix(row, "| ") {
			continue
		}
		dir := ""
		for _, m := range span.FindAllStringSubmatch(row, -1) {
			file := m[1]
			switch {
			case strings.Contains(file, "/"):
				dir = file
				if path.Ext(file) != "" {
					dir = path.Dir(file)
				}
			case path.Ext(file) == ".go":
				file = path.Join(dir, file)
			case m[2] == ":":
				dir = file
			default:
				continue // a name in the code
			}
			if found, err := filepath.Glob(filepath.FromSlash(file)); err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s", name, file)
			}
		}
	}
}
