//go:build !race

package sandbox

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// TestJobs_Gigabyte: of a job that prints 1 GB the agent keeps the end in memory and the
// beginning in a file, and both have their bound. In the short form it prints 50 MB.
func TestJobs_Gigabyte(t *testing.T) {
	t.Parallel()
	size := testreq.Rounds(50_000_000, 1_000_000_000)
	s := startJobs(t, sandbox.None, false, 2,
		calls(background(fmt.Sprintf("sleep 2; yes 0123456789abcdef | head -c %d; echo the end", size))),
		calls(`{"name": "job_output", "args": {"job": "job_1", "wait": 500, "pattern": "^the end$"}}`),
		`{"expect": {"last_result": "the first 16777216 bytes of all that the job printed are in"}, "say": "So it was: ${last_result}"}`)
	s.Prompt("print").Ends("end_turn")
	if text := s.Text(); !strings.Contains(text, "the end") {
		t.Errorf("the model read %.400q … %q", text, text[max(0, len(text)-300):])
	}
	if peak := s.Peak(); peak > int64(testreq.Rounds(144, 256))<<20 {
		t.Errorf("the agent has used %d MB of memory", peak>>20)
	}
	var disk int64
	err := filepath.WalkDir(s.Home, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			disk += info.Size()
		}
		return nil // what is gone meanwhile takes no room
	})
	if err != nil || disk > 32<<20 {
		t.Errorf("%d MB are on the disk, %v", disk>>20, err)
	}
	t.Logf("memory at most %d MB, disk %d MB", s.Peak()>>20, disk>>20)
}
