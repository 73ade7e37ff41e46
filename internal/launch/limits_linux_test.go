package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A fork is tried again without the cgroup only where there is no process yet.
func TestForkAgain(t *testing.T) {
	t.Parallel()
	cannot := errors.New("cannot")
	notForked := fmt.Errorf("start: %w", NotForked{cannot})
	for _, tt := range []struct {
		name          string
		cgroup        bool
		first, second error
		forks         int
		want          error
	}{
		{"it runs", true, nil, nil, 1, nil},
		{"the process fails", true, cannot, nil, 1, cannot},
		{"no process in the cgroup", true, notForked, nil, 2, nil},
		{"no process at all", true, notForked, cannot, 2, cannot},
		{"no process, and no cgroup", false, notForked, nil, 1, cannot},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sys, forks := &syscall.SysProcAttr{UseCgroupFD: tt.cgroup}, 0
			_, err := forkAgain(sys, func() (int, error) {
				forks++
				if forks > 1 {
					if sys.UseCgroupFD {
						t.Error("again in the cgroup")
					}
					return 0, tt.second
				}
				return 0, tt.first
			})
			if forks != tt.forks || !errors.Is(err, tt.want) {
				t.Errorf("%d forks, %v; want %d, %v", forks, err, tt.forks, tt.want)
			}
		})
	}
}

// The limit of open files that a process was started with is found out once, though package syscall has raised it.
func TestStartedFiles(t *testing.T) {
	const within = "ACP_AGENT_TEST_STARTED_FILES"
	if os.Getenv(within) == "" {
		cmd := exec.Command("/bin/sh", "-c", `ulimit -Sn 256 && exec "$0" -test.run '^TestStartedFiles$'`, os.Args[0])
		cmd.Env = append(os.Environ(), within+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	first := startedFiles()
	if first == nil || first.Soft != 256 || first.Hard <= 256 {
		t.Fatalf("found %+v", first)
	}
	if again := startedFiles(); again != first {
		t.Error("it was found out twice")
	}
}
