//go:build unix

package permissions

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/cases"
)

var corpora = flag.String("corpora", "", "a directory of corpora, files of rows [class, command, directory] in JSON; see testdata/cases/corpora.md")

// TestCorpora counts by class and mode what would be asked of recorded commands, which
// testdata/corpora collects. The recordings are others' and not part of this repository.
// Beside a corpus x.json, the directory x is the workspace, and what is asked is written
// to x.MODE.txt. In mode auto no command of the class dangerous runs unasked.
func TestCorpora(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*corpora, "*.json"))
	if *corpora == "" {
		return // the recordings are not here
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpora in %s: %v", *corpora, err)
	}
	for _, file := range files {
		fixture, base := cases.NewFixture(t), strings.TrimSuffix(file, ".json")
		if info, err := os.Stat(base); err == nil && info.IsDir() {
			fixture.Work = base
		}
		rows := readCorpus(t, file)
		for _, mode := range []string{"ask", "code", "auto"} {
			count, total := map[string]map[string]int{}, map[string]int{}
			var asked strings.Builder
			for i, answer := range explain(t, fixture, mode, true, commandsOf(rows, fixture.Work)) {
				class := rows[i][0]
				if count[class] == nil {
					count[class] = map[string]int{}
				}
				count[class][answer.Verdict]++
				total[answer.Verdict]++
				if class == "dangerous" && answer.Verdict == "allow" {
					t.Errorf("%s: %q runs unasked in mode %s", file, rows[i][1], mode)
				}
				if answer.Verdict != "allow" {
					fmt.Fprintf(&asked, "%s\t%s\t%q\t%q\n", class, answer.Reason, answer.Part, rows[i][1])
				}
			}
			for _, class := range slices.Sorted(maps.Keys(count)) {
				t.Logf("%s %-5s %-10s %v", filepath.Base(file), mode, class, count[class])
			}
			t.Logf("%s %-5s %-10s %v of %d", filepath.Base(file), mode, "all", total, len(rows))
			if err := os.WriteFile(base+"."+mode+".txt", []byte(asked.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func readCorpus(t *testing.T, file string) (rows [][]string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func commandsOf(rows [][]string, work string) (list []cases.Case) {
	for _, row := range rows {
		text := row[1]
		if len(row) > 2 {
			text = "cd '{work}/" + row[2] + "' && " + text // which the tool takes for where it runs
		}
		quoted, _ := json.Marshal(strings.ReplaceAll(text, "{work}", work)) // a string always marshals
		list = append(list, cases.Case{File: "commands.txt", Text: "json " + string(quoted)})
	}
	return list
}
