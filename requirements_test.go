package rules

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/requirements.md again")

const (
	requirements = "docs/requirements.md"
	// lastTrap is the number of the last trap; the first is 1.
	lastTrap = 65
	// mostGuards is how many tests a row may name: the ones that would fail first.
	mostGuards = 3
)

var (
	rowForm     = regexp.MustCompile(`(?m)^\| R(\d+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$`)
	trapForm    = regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| ([^|]*) \|$`)
	numberForm  = regexp.MustCompile(`(?m)^\| R?\d+ \|`)
	guardForm   = regexp.MustCompile("^`([^` ]+) ([^` ]+)`$")
	mentionForm = regexp.MustCompile(`\bR(\d+)(?:\s*-\s*R?(\d+))?`)
)

// TestRules_Requirements holds docs/requirements.md and the doc.go files together: each
// requirement that a package says it fulfils has a row that names the package, and each
// row names the packages that say so.
func TestRules_Requirements(t *testing.T) {
	text := readRequirements(t)
	claims := claims(t)
	updated := rowForm.ReplaceAllFunc(text, func(row []byte) []byte {
		m := rowForm.FindSubmatch(row)
		number := atoi(t, string(m[1]))
		owners := claims[number]
		delete(claims, number)
		if len(owners) == 0 {
			t.Errorf("%s: R%d: no doc.go names it: remove the row, or name it where it is fulfilled", requirements, number)
		}
		return []byte("| R" + string(m[1]) + " | `" + strings.Join(owners, "`, `") + "` | " + string(m[3]) + " | " + string(m[4]) + " |")
	})
	for _, number := range slices.Sorted(maps.Keys(claims)) {
		t.Errorf("%s: R%d has no row; %s says that it fulfils it", requirements, number, strings.Join(claims[number], ", "))
	}
	if bytes.Equal(text, updated) {
		return
	}
	if !*update {
		t.Errorf("%s: its packages differ from what the doc.go files say: run go test . -update", requirements)
		return
	}
	if err := os.WriteFile(requirements, updated, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRules_Guards holds docs/requirements.md to the tests: each requirement names one
// to three that guard it, each trap does or says what it waits for, and all of them exist.
func TestRules_Guards(t *testing.T) {
	text := readRequirements(t)
	rows, traps := rowForm.FindAllSubmatch(text, -1), trapForm.FindAllSubmatch(text, -1)
	if n := len(numberForm.FindAll(text, -1)); n != len(rows)+len(traps) {
		t.Errorf("%s: %d of its %d rows have another form than the tables' heads", requirements, n-len(rows)-len(traps), n)
	}
	known := tests(t)
	for _, row := range rows {
		checkGuards(t, "R"+string(row[1]), string(row[4]), known)
	}
	for i, trap := range traps {
		if n := atoi(t, string(trap[1])); n != i+1 {
			t.Fatalf("%s: trap %d stands where trap %d should", requirements, n, i+1)
		}
		guards, waits, open := strings.Cut(string(trap[2]), "waits for: ")
		if open && strings.TrimSpace(waits) == "" {
			t.Errorf("%s: trap %s waits for nothing", requirements, trap[1])
		}
		if guards = strings.TrimSuffix(guards, "; "); !open || guards != "" {
			checkGuards(t, "trap "+string(trap[1]), guards, known)
		}
	}
	if len(traps) != lastTrap {
		t.Errorf("%s: it has %d traps, want %d", requirements, len(traps), lastTrap)
	}
}

// checkGuards wants a cell of one to three tests that exist.
func checkGuards(t *testing.T, row, cell string, known map[string]bool) {
	t.Helper()
	guards := strings.Split(cell, ", ")
	if len(guards) > mostGuards {
		t.Errorf("%s: %s: %d tests, at most %d: name the ones that would fail first", requirements, row, len(guards), mostGuards)
	}
	for _, guard := range guards {
		m := guardForm.FindStringSubmatch(guard)
		if m == nil {
			t.Errorf("%s: %s: %q names no test; write `package TestName` or `script NAME`", requirements, row, guard)
		} else if !known[m[1]+" "+m[2]] {
			t.Errorf("%s: %s: there is no %s %s: name the test that guards it now", requirements, row, m[1], m[2])
		}
	}
}

// tests are the tests and fuzz targets of all packages, and the scripts.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, m := range declared.FindAllSubmatch(s.text, -1) {
			known[s.dir+" "+string(m[1])] = true
		}
	}
	scripts, err := filepath.Glob("testdata/scripts/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		known["script "+strings.TrimSuffix(filepath.Base(script), ".txtar")] = true
	}
	return known
}

func readRequirements(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
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
			first := atoi(t, m[1])
			last := first
			if m[2] != "" {
				last = atoi(t, m[2])
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
