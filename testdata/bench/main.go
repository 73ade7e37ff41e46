// Bench measures acp-agent beside the bare program in floor, and prints a table of both
// with the goals of docs/performance.md: the ratio holds from machine to machine, the
// milliseconds do not.
//
//	go run ./testdata/bench                     # builds both, five runs
//	go run ./testdata/bench -runs 3 -only edit  # the rows with edit in their name
//	go run ./testdata/bench -agent old/acp-agent -o old.txt
//
// One client drives both over stdio against one mock model server without think time. In
// each run both live at the same time and take turns row by row. A row shows the best of
// all runs, the median behind it. The file of -o is for benchstat (-col /of).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
)

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 5, "how often everything is measured")
	flag.StringVar(&o.agent, "agent", "", "binary to measure (default: built from this tree)")
	flag.StringVar(&o.out, "o", "", "file for benchstat")
	only := flag.String("only", "", "regular expression over the names of the steps to take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	runs       int
	agent, out string
	only       *regexp.Regexp
}

func (o options) run(ctx context.Context) error {
	debug.SetGCPercent(1000) // this process must not be what is measured
	dir, err := os.MkdirTemp("", "acp-agent-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	binaries := map[string]string{"floor": filepath.Join(dir, "floor"), "agent": filepath.Join(dir, "acp-agent")}
	if err := build(ctx, binaries["floor"], "./testdata/bench/floor"); err != nil {
		return err
	}
	if o.agent == "" {
		err = build(ctx, binaries["agent"], "./cmd/acp-agent")
	} else {
		binaries["agent"], err = filepath.Abs(o.agent)
	}
	if err != nil {
		return err
	}
	results := results{}
	for n := range o.runs {
		fmt.Fprintf(os.Stderr, "run %d of %d\n", n+1, o.runs)
		r := &run{results: results, dir: filepath.Join(dir, fmt.Sprint(n)), binaries: binaries, only: o.only}
		if err := r.all(ctx); err != nil {
			return err
		}
	}
	results.table(os.Stdout)
	if o.out == "" {
		return nil
	}
	file, err := os.Create(o.out)
	if err != nil {
		return err
	}
	results.benchstat(file)
	return file.Close()
}

// build builds a program the way `make build` does.
func build(ctx context.Context, path, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("build %s: %w", pkg, err), errors.New(string(out)))
	}
	return nil
}
