//go:build unix

package search_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/search"
	"acp-agent/internal/testkit/testreq"
)

// queries are what the benchmarks look for in the Go source tree.
func queries() []struct {
	name, pattern string
	exact         bool
} {
	return []struct {
		name, pattern string
		exact         bool
	}{
		{"literal", `func ReadAll`, true},
		{"literal_anycase", `deadline exceeded`, false},
		{"common_anycase", `error`, false},
		{"class_suffix", `[A-Z]\w+Error\b`, true},
		{"alternation_anycase", `foo|bar|quux`, false},
		{"inner_literal", `\w+\s+\w+\s+error`, true},
		{"no_literal", `[a-z]\d{4}[^a-z]\d`, true},
	}
}

// source is the Go source tree, a stand-in for a large project.
func source(b *testing.B) string {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		testreq.Skip(b, "no Go source tree to search: "+err.Error())
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src")
}

// BenchmarkGrep reports CPU time beside wall time; BenchmarkRipgrep does the
// same for the program that is the yardstick (goal: 1.5 times its CPU).
func BenchmarkGrep(b *testing.B) {
	base := source(b)
	for _, q := range queries() {
		b.Run(q.name, func(b *testing.B) {
			start := cpuTime(b)
			for b.Loop() {
				root := openDir(b, base)
				_, err := search.Grep(b.Context(), root, search.GrepOptions{Base: base, Pattern: q.pattern, CaseSensitive: q.exact}, io.Discard)
				root.Close()
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-start).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

func BenchmarkRipgrep(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		testreq.Skip(b, "no rg to compare with")
	}
	base := source(b)
	for _, q := range queries() {
		b.Run(q.name, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				args := []string{"-n", "-e", q.pattern, base}
				if !q.exact {
					args = append(args, "-i")
				}
				cmd := exec.Command(rg, args...)
				cmd.Stdout = io.Discard
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	base := source(b)
	for b.Loop() {
		root := openDir(b, base)
		_, err := search.Glob(b.Context(), root, search.GlobOptions{Base: base, Pattern: "**/*_test.go"})
		root.Close()
		if err != nil {
			b.Fatal(err)
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
