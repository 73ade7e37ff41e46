package builtin

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/internal/search"
	"acp-agent/tools"
)

// What of the hits is shown, besides the lines themselves.
const (
	grepPaths  = "files_with_matches"
	grepCounts = "count"
)

const (
	// countedPerFile bounds the hits of a file that are counted, countedTotal those of
	// all files.
	countedPerFile = 10_000
	countedTotal   = 20_000
	// contextLines bounds the lines around a hit on each side, contextTotal all lines
	// of a result that has such, contextBytes a file that they are taken from.
	contextLines = 20
	contextTotal = 1000
	contextBytes = 4 << 20
)

// natural is a number of things.
func natural(name, description string) argument {
	return argument{name, &jsonschema.Schema{Type: "integer", Minimum: jsonschema.Ptr(0.0), Description: description}}
}

// limits says how many hits are needed for what is shown.
func (a grepArgs) limits(o *search.GrepOptions) {
	switch a.Mode {
	case grepPaths:
		o.MaxPerFile = 1
	case grepCounts:
		o.MaxPerFile, o.MaxTotal = countedPerFile, countedTotal
	}
}

var grepHit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*?):([0-9]+): `) })

// reshape makes of the lines that were found what was asked for.
func (a grepArgs) reshape(ctx context.Context, rt tools.Runtime, found *search.GrepResult) {
	hits := len(found.Lines)
	switch {
	case a.Mode == grepPaths || a.Mode == grepCounts:
		found.Lines = perFile(found.Lines, a.Mode == grepCounts)
		found.Total = len(found.Lines) + max(found.Total-hits, 0)
		if a.Mode == grepPaths {
			found.Total = max(found.Files, len(found.Lines))
		}
	case a.Before > 0 || a.After > 0:
		around := surroundings{ctx: ctx, rt: rt, before: min(a.Before, contextLines), after: min(a.After, contextLines)}
		found.Lines = around.of(found.Lines)
		found.Total += len(found.Lines) - hits
	}
	if a.HeadLimit > 0 && len(found.Lines) > a.HeadLimit {
		found.Lines = found.Lines[:a.HeadLimit]
	}
}

// perFile has one line for each file, in order, with the number of its hits or not.
func perFile(lines []string, counted bool) []string {
	var paths []string
	counts := map[string]int{}
	for _, line := range lines {
		match := grepHit().FindStringSubmatch(line)
		if match == nil {
			continue
		}
		if counts[match[1]]++; counts[match[1]] == 1 {
			paths = append(paths, match[1])
		}
	}
	if counted {
		for i, path := range paths {
			paths[i] = fmt.Sprintf("%s:%d", path, counts[path])
		}
	}
	return paths
}

// surroundings adds the lines around hits.
type surroundings struct {
	ctx           context.Context
	rt            tools.Runtime
	before, after int
}

func (s surroundings) of(hits []string) []string {
	var shown []string
	for start := 0; start < len(hits) && len(shown) < contextTotal; {
		path, _, ok := hitOf(hits[start])
		end := start + 1
		for end < len(hits) {
			if next, _, same := hitOf(hits[end]); !same || next != path {
				break
			}
			end++
		}
		text := []string(nil)
		if ok {
			text = s.text(path)
		}
		shown = append(shown, s.file(path, text, hits[start:end])...)
		start = end
	}
	return shown[:min(len(shown), max(contextTotal, len(hits)))]
}

func hitOf(line string) (path string, number int, ok bool) {
	match := grepHit().FindStringSubmatch(line)
	if match == nil {
		return "", 0, false
	}
	number, err := strconv.Atoi(match[2])
	return match[1], number, err == nil
}

// file are the hits of one file with the lines around them: those with "-", as grep
// has it, and a line of "--" where some are left out.
func (s surroundings) file(path string, text, hits []string) []string {
	var shown []string
	last := 0 // the last line that is shown
	for i, hit := range hits {
		_, number, ok := hitOf(hit)
		if !ok || number > len(text) {
			shown = append(shown, hit)
			continue
		}
		first := max(number-s.before, last+1, 1)
		if last > 0 && first > last+1 {
			shown = append(shown, "--")
		}
		for n := first; n < number; n++ {
			shown = append(shown, contextLine(path, n, text[n-1]))
		}
		shown, last = append(shown, hit), number
		until := min(number+s.after, len(text))
		if i+1 < len(hits) {
			if _, next, known := hitOf(hits[i+1]); known {
				until = min(until, next-1)
			}
		}
		for n := number + 1; n <= until; n++ {
			shown, last = append(shown, contextLine(path, n, text[n-1])), n
		}
	}
	return shown
}

func contextLine(path string, number int, text string) string {
	text = strings.ToValidUTF8(strings.TrimSuffix(text, "\r"), "\ufffd")
	if runes := []rune(text); len(runes) > grepLine {
		text = string(runes[:grepLine]) + "..."
	}
	return path + "-" + strconv.Itoa(number) + "- " + text
}

// text is a file by lines; nil when it cannot be read or is large.
func (s surroundings) text(path string) []string {
	path = filepath.FromSlash(path)
	if s.rt.FS().Secret(path) {
		return nil
	}
	file, err := s.rt.FS().Open(s.ctx, path)
	if err != nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, contextBytes))
	if err != nil || len(raw) == contextBytes {
		return nil
	}
	return strings.Split(string(raw), "\n")
}
