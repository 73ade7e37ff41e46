package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools/pipeline"
)

// What is reported of a path is of the file that passed the check: a link that leads in turn to a directory and to a secret
// never leads to a regular file that a command may read.
func TestRegular_Swapped(t *testing.T) {
	s := newStage(t, nil)
	s.write(t, ".env", "KEY=1\n")
	link, other := filepath.Join(s.dir, "link"), filepath.Join(s.dir, "other")
	for name, to := range map[string]string{link: ".", other: ".env"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
			}
		}
	}()
	regular := 0
	for range testreq.Rounds(2000, 20000) {
		if pipeline.Regular(s.Pipeline, link) {
			regular++
		}
	}
	close(over)
	<-done
	if regular > 0 {
		t.Errorf("reported as a regular file %d times", regular)
	}
}
