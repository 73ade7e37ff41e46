package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"acp-agent/capability"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// TestSwapped runs the tools on a way that leads in turn to a plain directory, to one
// that a rule denies, to a protected one, and out, while everything else is allowed and
// no one says yes: only the plain directory is ever changed, and what the rule denies and
// what is outside is never read. The short form has fewer rounds.
func TestSwapped(t *testing.T) {
	s := newStage(t, nil)
	outside := t.TempDir()
	kept := map[string]string{"kept": filepath.Join(s.dir, "kept"), "vscode": filepath.Join(s.dir, ".vscode"), "outside": outside}
	text := map[string]string{"kept": "canary one\n", "outside": "canary one\n", "vscode": "readable one\n"}
	for what, dir := range kept {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"f", "gone"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text[what]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	plain := filepath.Join(s.dir, "plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	links := []string{"plain", "kept", "plain", ".vscode", "plain", outside}
	for i, to := range links {
		if err := os.Symlink(to, filepath.Join(s.dir, fmt.Sprint("link", i))); err != nil {
			t.Fatal(err)
		}
	}
	turn(t, s, "plain")
	s.policy.Remember(
		permissions.Rule{Permission: "*", Pattern: "*", Action: capability.Allow, Source: "test"},
		permissions.Rule{Permission: "*", Pattern: "{workspace}/kept/**", Action: capability.Deny, Source: "test"},
	)
	over, done := make(chan struct{}), make(chan int)
	go func() {
		swaps := 0
		defer func() { done <- swaps }()
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			default:
			}
			a, b := filepath.Join(s.dir, "way"), filepath.Join(s.dir, fmt.Sprint("link", i%len(links)))
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				swaps++
			}
			for range i * 7 % 100 {
				_, _ = os.Lstat(a)
			}
		}
	}()
	calls := []struct {
		tool string
		args object
	}{
		{"grep", object{"pattern": "one", "path": "way"}},
		{"edit", object{"path": "way/f", "old_str": "one", "new_str": "one two"}},
		{"write", object{"path": "way/f", "content": "plain one\n"}},
		{"delete_file", object{"path": "way/gone"}},
		{"apply_patch", object{"patch": "*** Begin Patch\n*** Update File: way/f\n@@\n-plain one\n+plain one more\n*** Add File: way/made\n+made\n*** End Patch\n"}},
	}
	rounds := testreq.Rounds(50, 200)
	succeeded := map[string]int{}
	// A slow machine gets more rounds: the way must lead to the same place from the
	// judgement to the last use for a call to be done.
	for i := 0; i < rounds || len(succeeded) < len(calls) && i < 20*rounds; i++ {
		call := calls[i%len(calls)]
		_ = os.Remove(filepath.Join(plain, "made"))
		for _, name := range []string{"f", "gone"} {
			if err := os.WriteFile(filepath.Join(plain, name), []byte("plain one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		end := s.Run(t.Context(), s.Prepare(callOf(t, i, call.tool, call.args)), s)
		if strings.Contains(end.Text, "canary") {
			t.Fatalf("%s gave %q", call.tool, end.Text)
		}
		if end.State == transcript.Done {
			succeeded[call.tool]++
		}
	}
	close(over)
	swaps := <-done
	for name, dir := range kept {
		for _, file := range []string{"f", "gone"} {
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != text[name] {
				t.Errorf("%s/%s holds %q, %v", name, file, got, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, "made")); err == nil {
			t.Errorf("%s/made was made", name)
		}
	}
	for _, call := range calls {
		if succeeded[call.tool] == 0 {
			t.Errorf("%s never succeeded", call.tool)
		}
	}
	t.Logf("%d swaps, done: %v", swaps, succeeded)
}

func callOf(t *testing.T, i int, tool string, args object) pipeline.Call {
	t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Call{ID: fmt.Sprint("call_", i), Name: tool, Input: string(input)}
}
