//go:build unix

package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/config"
	"acp-agent/permissions/watchdog"
)

// newJudge makes a judge of a shell script that finds its directory in $0.
func newJudge(t *testing.T, script string) (judge, string) {
	t.Helper()
	core := newCore(io.Discard)
	core.stateDir, core.sources = t.TempDir(), config.Sources{}
	t.Cleanup(core.Close)
	core.Warm()
	dir := t.TempDir()
	path := filepath.Join(dir, "guard.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return judge{core: core, argv: []string{path}}, dir
}

// A cancel ends a slow watchdog, with what it started, whatever signals they
// ignore.
func TestGuard_CancelEndsItsTree(t *testing.T) {
	judge, dir := newJudge(t, `trap "" TERM
(trap "" TERM; sleep 60; sleep 60) &
echo $! $$ >"${0%/*}/pids.new"
mv "${0%/*}/pids.new" "${0%/*}/pids"
wait; wait
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := judge.run(ctx, watchdog.Call{}, []byte("{}"))
		ended <- err
	}()
	var pids []byte
	for pids == nil {
		var err error
		if pids, err = os.ReadFile(filepath.Join(dir, "pids")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	for _, field := range strings.Fields(string(pids)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
}

// A watchdog sees the short environment, without keys, and what lies where tools
// may write is not run.
func TestGuard_Surroundings(t *testing.T) {
	const canary = "sk-canary-8f1d2c7ab34e9065"
	t.Setenv("SOME_API_KEY", canary)
	t.Setenv("HARMLESS", canary)
	judge, dir := newJudge(t, `cat >/dev/null; env; pwd`)
	output, err := judge.run(t.Context(), watchdog.Call{Roots: []string{"/nowhere"}}, []byte("{}"))
	if err != nil || !strings.Contains(string(output), "PATH=") {
		t.Fatalf("%s, %v", output, err)
	}
	if strings.Contains(string(output), canary) {
		t.Errorf("it was told the key: %s", output)
	}
	if _, err := judge.run(t.Context(), watchdog.Call{Roots: []string{dir}}, []byte("{}")); err == nil || !strings.Contains(err.Error(), "lies where tools may write") {
		t.Errorf("a watchdog in the session's directory: %v", err)
	}
}
