//go:build unix

package permissions

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"acp-agent/internal/testkit/cases"
)

var corpora = flag.String("corpora", "", "a directory of corpora, files of rows [class, command] in JSON; see testdata/cases/corpora.md")

// TestCorpora counts by class and mode what would be asked of recorded commands. The
// recordings are others' and not part of this repository. In mode auto no command of the
// class dangerous runs unasked.
func TestCorpora(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*corpora, "*.json"))
	if *corpora == "" {
		return // the recordings are not here
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpora in %s: %v", *corpora, err)
	}
	for _, file := range files {
		rows := readCorpus(t, file)
		for _, mode := range []string{"ask", "auto"} {
			count := map[string]map[string]int{}
			for i, answer := range explain(t, cases.NewFixture(t), mode, commandsOf(rows)) {
				class := rows[i][0]
				if count[class] == nil {
					count[class] = map[string]int{}
				}
				if count[class][answer.Verdict]++; class == "dangerous" && answer.Verdict == "allow" {
					t.Errorf("%s: %q runs unasked in mode %s", file, rows[i][1], mode)
				}
			}
			var classes []string
			for class := range count {
				classes = append(classes, class)
			}
			slices.Sort(classes)
			for _, class := range classes {
				t.Logf("%s %-5s %-10s %v", filepath.Base(file), mode, class, fmt.Sprint(count[class]))
			}
		}
	}
}

func readCorpus(t *testing.T, file string) (rows [][2]string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func commandsOf(rows [][2]string) (list []cases.Case) {
	for _, row := range rows {
		quoted, _ := json.Marshal(row[1]) // a string always marshals
		list = append(list, cases.Case{File: "commands.txt", Text: "json " + string(quoted)})
	}
	return list
}
