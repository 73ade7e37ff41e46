package launch

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func helperAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// contain puts the helper into a job that ends with it. Every process started
// from here on is born into the job; no one else holds its handle, so the
// kernel kills them all when the helper exits, however it exits.
func contain() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create job: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return fmt.Errorf("limit job: %w", err)
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		return fmt.Errorf("enter job: %w", err)
	}
	return nil // the handle stays open until the process exits
}

// relaySignals has nothing to relay: a console's signals do not reach us.
func (*helper) relaySignals() {}

// tree is the shell; the job holds the rest.
type tree struct {
	shell int
	cmd   *exec.Cmd
}

func startTree(spec Spec, files stdio, steps []Step) (*tree, error) {
	start := spec.start()
	defer start.close()
	for _, step := range steps {
		if err := step(start); err != nil {
			return nil, stepError{err}
		}
	}
	cmd := &exec.Cmd{Path: spec.program(), Args: spec.argv(), Dir: spec.Dir, Env: spec.Env, Stdout: files.out, Stderr: files.errors()}
	if files.in != nil {
		cmd.Stdin = files.in // left nil it is the null device; a nil *os.File would not be
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &tree{shell: cmd.Process.Pid, cmd: cmd}, nil
}

// awaitEnd waits for the shell. There is no TERM here: a stop kills at once, and
// the helper's exit kills the rest.
func (t *tree) awaitEnd(_ Limits, stops <-chan stop) (status Status, stopped bool) {
	ended := make(chan struct{})
	go func() { // ends with the shell
		defer close(ended)
		_ = t.cmd.Wait()
	}()
	select {
	case <-ended:
		return Status{ExitCode: t.cmd.ProcessState.ExitCode()}, false
	case <-stops:
		_ = t.cmd.Process.Kill()
		<-ended
		return Status{ExitCode: 128 + int(syscall.SIGKILL), Signal: "SIGKILL"}, true
	}
}

// release has nothing to end.
func (t *tree) release() {}

// nothingLeft: the job holds what is left until the helper ends.
func (t *tree) nothingLeft(Status) bool { return false }

// wake, killTree and sweep have no work: the end of the helper is the end of
// its job.
func wake(int)          {}
func killTree(int)      {}
func sweep(string, int) {}

// hand lets the helper that cmd will start inherit a handle, which has the same
// number there.
func hand(cmd *exec.Cmd, f *os.File) (uintptr, error) {
	handle := f.Fd()
	if err := windows.SetHandleInformation(windows.Handle(handle), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		return 0, fmt.Errorf("hand a pipe to the helper: %w", err)
	}
	cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, syscall.Handle(handle))
	return handle, nil
}
