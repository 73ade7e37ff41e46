package rules

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/requirements.md again")

var (
	rowForm     = regexp.MustCompile(`(?m)^\| R(\d+) \| ([^|]*) \| (.*) \|$`)
	mentionForm = regexp.MustCompile(`\bR(\d+)(?:\s*-\s*R?(\d+))?`)
)

// TestRules_Requirements holds docs/requirements.md and the doc.go files together: each
// requirement that a package says it fulfils has a row that names the package, and each
// row names the packages that say so.
func TestRules_Requirements(t *testing.T) {
	const name = "docs/requirements.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	claims := claims(t)
	updated := rowForm.ReplaceAllFunc(text, func(row []byte) []byte {
		m := rowForm.FindSubmatch(row)
		number, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		owners := claims[number]
		delete(claims, number)
		if len(owners) == 0 {
			t.Errorf("%s: R%d: no doc.go names it: remove the row, or name it where it is fulfilled", name, number)
		}
		return []byte("| R" + string(m[1]) + " | `" + strings.Join(owners, "`, `") + "` | " + string(m[3]) + " |")
	})
	for _, number := range slices.Sorted(maps.Keys(claims)) {
		t.Errorf("%s: R%d has no row; %s says that it fulfils it", name, number, strings.Join(claims[number], ", "))
	}
	if bytes.Equal(text, updated) {
		return
	}
	if !*update {
		t.Errorf("%s: its packages are not those that the doc.go files say: run go test . -update", name)
		return
	}
	if err := os.WriteFile(name, updated, 0o644); err != nil {
		t.Fatal(err)
	}
}

// claims maps the number of each requirement to the packages whose doc.go names it in
// its last section, in order.
func claims(t *testing.T) map[int][]string {
	t.Helper()
	claims := map[int][]string{}
	for _, s := range sources(t) {
		if path.Base(s.name) != "doc.go" {
			continue
		}
		_, section, _ := strings.Cut(s.file.Doc.Text(), "# Requirements\n")
		for _, m := range mentionForm.FindAllStringSubmatch(section, -1) {
			first, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatalf("%s: %s: %v", s.name, m[0], err)
			}
			last := first
			if m[2] != "" {
				if last, err = strconv.Atoi(m[2]); err != nil {
					t.Fatalf("%s: %s: %v", s.name, m[0], err)
				}
			}
			for n := first; n <= last; n++ {
				if !slices.Contains(claims[n], s.dir) {
					claims[n] = append(claims[n], s.dir)
				}
			}
		}
	}
	for n := range claims {
		slices.Sort(claims[n])
	}
	return claims
}
