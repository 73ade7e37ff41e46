package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
)

// results are all samples by row and program.
type results map[string]map[string][]float64

func (r results) add(row, of string, value float64) {
	if r[row] == nil {
		r[row] = map[string][]float64{}
	}
	r[row][of] = append(r[row][of], value)
}

// line is a row of the table.
type line struct {
	row, unit string
	// ratio is the goal as a multiple of the floor, limit as a value; 0 means none. With
	// both, either will do: the limit is for a machine as fast as the one it was set on.
	ratio, limit float64
}

// lines are the rows with their goals, in order.
var lines = []line{
	{"spawn to initialize answer", "ms", 2, 0},
	{"session/new, first", "ms", 0, 2},
	{"session/new, later", "ms", 0, 0},
	{"warm prompt to first chunk", "ms", 3, 0},
	{"2000 deltas, prompt to stop", "ms", 2.5, 0},
	{"2000 deltas, CPU", "ms", 0, 30},
	{"2000 deltas, updates", "", 0, 50},
	{"deltas every 30 ms, latency p50", "ms", 1.7, 0.3},
	{"deltas every 30 ms, latency p99", "ms", 1.7, 0.8},
	{"deltas every 10 ms, latency p50", "ms", 1.7, 0.3},
	{"deltas every 10 ms, latency p99", "ms", 0, 4},
	{"deltas every 5 ms, latency p50", "ms", 1.7, 0.3},
	{"deltas every 5 ms, latency p99", "ms", 0, 4},
	{"50 sequential reads, per call", "ms", 2.5, 0},
	{"bash call", "ms", 4, 0},
	{"bash call, first of a process", "ms", 5, 0},
	{"edit call", "ms", 2, 0},
	{"fsync of a small file and its directory", "ms", 0, 0},
	{"20 parallel reads in one step", "ms", 2, 0},
	{"cancel to stop", "ms", 0, 3},
	{"20 sessions x 500 deltas", "ms", 2, 0},
	{"4 KB turns, turn 1", "ms", 0, 0},
	{"4 KB turns, turn 2-6", "ms", 0, 0},
	{"4 KB turns, turn 96-100", "ms", 2, 0},
	{"4 KB turns, 96-100 over 1", "x", 0, 1.2},
	{"4 KB turns, 96-100 over 2-6", "x", 0, 0},
	{"4 KB turns, 96-100 over 2-6, the same of CPU", "x", 0, 1.2},
	{"idle memory, PSS", "MB", 0, 15},
	{"peak memory, RSS", "MB", 0, 35},
	{"CPU of everything above", "ms", 4, 0},
	{"exit right after initialize", "ms", 0, 0},
	{"exit right after a first turn", "ms", 0, 0},
	{"stdin closed to exit", "ms", 0, 4},
	{"size of the binary", "MB", 0, 20},
	{"first model request", "KB", 0, 12},
	{"turn with four model calls", "ms", 0, 0},
	{"two of them by a subagent, above it", "ms", 0, 3},
	{"two of them by a subagent, over it", "x", 0, 0},
	{"20 subagents, 2000 edits, per edit", "ms", 0, 0},
	{"20 subagents, peak memory, RSS", "MB", 0, 200},
	{"20 subagents, above one idle session", "MB", 0, 0},
	{"session/new without servers", "ms", 0, 0},
	{"session/new with 10 servers", "ms", 0, 0},
	{"session/new with 10 servers, over none", "x", 0, 1.5},
	{"session/load, 1 turn", "ms", 0, 0},
	{"session/load, 1 turn, to the first update", "ms", 0, 0},
	{"session/load, 1 turn, CPU", "ms", 0, 0},
	{"session/load, 100 turns", "ms", 0, 20},
	{"session/load, 100 turns, to the first update", "ms", 0, 0},
	{"session/load, 100 turns, CPU", "ms", 0, 0},
	{"session/load, 10000 parts", "ms", 0, 600},
	{"session/load, 10000 parts, to the first update", "ms", 0, 100},
	{"session/load, 10000 parts, CPU", "ms", 0, 0},
	{"session/load, 10000 parts, peak memory", "MB", 0, 60},
	{"session/list of 5000, first", "ms", 0, 20},
	{"session/list of 5000, later", "ms", 0, 0},
	{"search in 1 GB", "ms", 0, 2000},
	{"a turn of 200 deltas, not stored", "ms", 0, 0},
	{"a turn of 200 deltas, stored, above it", "ms", 0, 0},
	{"a turn of 200 deltas, stored over not stored", "x", 0, 1.05},
	{"a turn of 200 deltas, stored, the same of CPU", "x", 0, 0},
	{"a turn with a call that reads, not stored", "ms", 0, 0},
	{"a turn with a call that reads, stored, above it", "ms", 0, 0},
	{"a turn with a call that reads, stored over not stored", "x", 0, 1.05},
	{"a turn with a call that reads, stored, the same of CPU", "x", 0, 0},
	{"a turn of 100 deltas every 5 ms, not stored", "ms", 0, 0},
	{"a turn of 100 deltas every 5 ms, stored, above it", "ms", 0, 0},
	{"a turn of 100 deltas every 5 ms, stored over not stored", "x", 0, 1.05},
	{"a turn of 100 deltas every 5 ms, stored, the same of CPU", "x", 0, 0},
	{"a turn of 200 deltas, not recorded", "ms", 0, 0},
	{"a turn of 200 deltas, recorded, above it", "ms", 0, 0},
	{"a turn of 200 deltas, recorded over not recorded", "x", 0, 1.05},
	{"a turn of 200 deltas, recorded, the same of CPU", "x", 0, 0},
	{"a turn with a call that reads, not recorded", "ms", 0, 0},
	{"a turn with a call that reads, recorded, above it", "ms", 0, 0},
	{"a turn with a call that reads, recorded over not recorded", "x", 0, 1.05},
	{"a turn with a call that reads, recorded, the same of CPU", "x", 0, 0},
	{"a turn of 100 deltas every 5 ms, not recorded", "ms", 0, 0},
	{"a turn of 100 deltas every 5 ms, recorded, above it", "ms", 0, 0},
	{"a turn of 100 deltas every 5 ms, recorded over not recorded", "x", 0, 1.05},
	{"a turn of 100 deltas every 5 ms, recorded, the same of CPU", "x", 0, 0},
	{"grep, literal, CPU over ripgrep", "x", 0, 1.5},
	{"grep, literal, wall over ripgrep", "x", 0, 1},
	{"grep, expression, CPU over ripgrep", "x", 0, 1.5},
	{"grep, expression, wall over ripgrep", "x", 0, 1},
}

// best is the least of the samples, NaN when there are none.
func best(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	return slices.Min(samples)
}

// pick is the sample that counts: the best, and of ratios within a run the median, which
// a single slow divisor does not make good.
func (l line) pick(samples []float64) float64 {
	if l.unit == "x" {
		return median(samples)
	}
	return best(samples)
}

func median(samples []float64) float64 { return percentile(samples, 50) }

// percentile is the nearest-rank percentile, NaN when there are no samples.
func percentile(samples []float64, p int) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

// goal says what is asked for, verdict whether it was met.
func (l line) goal() string {
	switch {
	case l.ratio > 0 && l.limit > 0:
		return fmt.Sprintf("<= %g %s or %gx floor", l.limit, l.unit, l.ratio)
	case l.ratio > 0:
		return fmt.Sprintf("<= %gx floor", l.ratio)
	case l.limit > 0:
		return fmt.Sprintf("<= %g %s", l.limit, l.unit)
	}
	return ""
}

func (l line) verdict(ours, floor float64) string {
	switch {
	case l.ratio > 0 && ours <= l.ratio*floor, l.limit > 0 && ours <= l.limit:
		return "met"
	case l.ratio > 0 || l.limit > 0:
		return "missed"
	}
	return ""
}

func (r results) table(w io.Writer) {
	tab := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	defer tab.Flush()
	row := func(cells ...string) { fmt.Fprintf(tab, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	row("what", "goal", "ours", "floor", "ratio", "verdict")
	row("---", "---", "---", "---", "---", "---")
	for _, l := range lines {
		samples, measured := r[l.row]
		if !measured {
			continue
		}
		ours, floor := l.pick(samples["agent"]), l.pick(samples["floor"])
		row(l.row, l.goal(), l.show(samples["agent"]), l.show(samples["floor"]), number(ours/floor), l.verdict(ours, floor))
	}
}

// show is the best and, behind it, the median; of a ratio the median alone.
func (l line) show(samples []float64) string {
	if len(samples) == 0 {
		return "-"
	}
	if b, m := number(best(samples)), number(median(samples)); b != m && l.unit != "x" {
		return fmt.Sprintf("%s (%s) %s", b, m, l.unit)
	}
	return number(l.pick(samples)) + " " + l.unit
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// benchstat writes the samples in the format of Go benchmarks.
func (r results) benchstat(w io.Writer) {
	for _, l := range lines {
		name := strings.Map(func(c rune) rune {
			if unicode.IsSpace(c) || c == ',' || c == '/' {
				return '_'
			}
			return c
		}, l.row)
		for _, of := range []string{"floor", "agent"} {
			for _, v := range r[l.row][of] {
				if l.unit == "ms" {
					fmt.Fprintf(w, "Benchmark_%s/of=%s 1 %.0f ns/op\n", name, of, v*1e6)
				} else {
					fmt.Fprintf(w, "Benchmark_%s/of=%s 1 %g %s\n", name, of, v, l.unit)
				}
			}
		}
	}
}
