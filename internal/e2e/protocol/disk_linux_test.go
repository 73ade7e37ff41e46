package protocol

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

// diskModel writes a file over, runs a command whose result is too long for the model, and answers.
const diskModel = `{"when": "^turn (\\d+)$", "say": "Begun ${match.1}. ", "call": [{"name": "write", "args": {"path": "file.txt", "content": "text of ${match.1}\n"}}]}
{"call": [{"name": "bash", "args": {"cmd": "seq -f 'line %06g of ${match.1}' 20000"}}]}
{"say": "Done with ${match.1}."}
`

const notStored = "This conversation is not stored at the moment"

// diskEnv makes the test run in a user namespace of its own, where it may mount.
const diskEnv = "ACPTEST_DISK"

// onSmallDisk mounts a disk of 8 MB for a test, in a namespace of its own
// where the user is not root. It returns false in the process that has only started the other.
func onSmallDisk(t *testing.T, dir string) bool {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m")
	if err == nil {
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		return true
	}
	if os.Getenv(diskEnv) != "" {
		testreq.Skip(t, "no disk can be mounted, in a namespace of its own either: "+err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-rm", self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), diskEnv+"=1")
	out, err := cmd.CombinedOutput()
	switch {
	case !strings.Contains(string(out), "=== RUN"):
		testreq.Skip(t, fmt.Sprintf("unshare cannot be used: %v %s", err, out))
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		testreq.Skip(t, "no disk can be mounted in a namespace of its own")
	}
	return false
}

// smallDisk is a session whose data directory is on a small disk.
type smallDisk struct {
	t       *testing.T
	disk    string
	project string
	options acptest.Options
	*acptest.Session
	said []string
}

func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	s := &smallDisk{t: t, disk: t.TempDir()}
	if !onSmallDisk(t, s.disk) {
		return nil
	}
	var err error
	if s.project, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	s.options = acptest.Options{
		Home: t.TempDir(), Model: diskModel, Env: []string{"XDG_DATA_HOME=" + s.disk}, Permission: acptest.Answer("allow_once"),
	}
	return s
}

// open starts an agent with a new session.
func (s *smallDisk) open() {
	s.t.Helper()
	a := acptest.Start(s.t, s.options)
	a.Initialize("")
	s.Session = a.NewSession(s.project)
}

// turn has a whole turn, whatever the disk does.
func (s *smallDisk) turn(n int) {
	s.t.Helper()
	text := fmt.Sprintf("turn %d", n)
	s.Prompt(text).Ends("end_turn")
	s.said = append(s.said, text, fmt.Sprintf("Done with %d.", n))
}

// told insists on how often the user was told that the conversation is not stored.
func (s *smallDisk) told(want int) {
	s.t.Helper()
	if got := strings.Count(texts(s.Lines(), "agent_message_chunk"), notStored); got != want {
		s.t.Errorf("the user was told %d times that nothing is stored, want %d", got, want)
	}
}

// fill leaves a number of bytes free on the disk.
func (s *smallDisk) fill(free int64) {
	s.t.Helper()
	f, err := os.Create(s.filler())
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(chunk)
	}
	size, end := f.Seek(0, 2)
	if !errors.Is(err, syscall.ENOSPC) || end != nil || f.Truncate(max(0, size-free)) != nil {
		s.t.Fatal(err, end)
	}
}

func (s *smallDisk) filler() string { return filepath.Join(s.disk, "filler") }

func (s *smallDisk) makeRoom() {
	s.t.Helper()
	if err := os.Remove(s.filler()); err != nil {
		s.t.Fatal(err)
	}
}

// isAllThere ends the agent, and insists that another one loads all that was said.
func (s *smallDisk) isAllThere() {
	s.t.Helper()
	s.Close()
	k := &killed{t: s.t, dir: s.project, id: s.ID, answered: s.said}
	a := acptest.Start(s.t, s.options)
	a.Initialize("")
	k.load(a)
	s.Session = &acptest.Session{Agent: a, ID: s.ID}
}

// TestDisk_Full fills the disk before the session has a file, and between its turns, with room for
// some kilobytes or none. The turns end as always, the user is told once, and once there is room
// everything that was said is stored. What stood in a file before it was written is not kept
// while there is no room: an undo then names the file and leaves it.
func TestDisk_Full(t *testing.T) {
	t.Parallel()
	for name, free := range map[string]int64{"nothing": 0, "some": 24 << 10} {
		t.Run(name, func(t *testing.T) {
			s := newSmallDisk(t)
			if s == nil {
				return
			}
			s.fill(free)
			s.open()
			s.turn(1)
			s.turn(2)
			s.told(1)
			s.makeRoom()
			s.turn(3)
			s.fill(free)
			s.turn(4)
			s.turn(5)
			s.told(1)
			s.makeRoom()
			s.turn(6)
			s.isAllThere()
			s.undone(6)
			s.undoneOrLeft(5)
		})
	}
}

// undone takes back the last turn, which is stored whole.
func (s *smallDisk) undone(last int) {
	s.t.Helper()
	s.Prompt("/undo").Ends("end_turn")
	text, err := os.ReadFile(filepath.Join(s.project, "file.txt"))
	if want := fmt.Sprintf("text of %d\n", last-1); err != nil || string(text) != want {
		s.t.Errorf("after the undo the file is %q, %v; want %q", text, err, want)
	}
}

// undoneOrLeft takes back a turn during which the disk was full: the file is as it was before, or
// the answer says that it was left.
func (s *smallDisk) undoneOrLeft(last int) {
	s.t.Helper()
	from := len(s.Lines())
	s.Prompt("/undo").Ends("end_turn")
	text, err := os.ReadFile(filepath.Join(s.project, "file.txt"))
	answer := texts(s.Lines()[from:], "agent_message_chunk")
	if err != nil || string(text) != fmt.Sprintf("text of %d\n", last-1) && !strings.Contains(answer, "Left as they are") {
		s.t.Errorf("after the undo the file is %q, %v, and the answer is %q", text, err, answer)
	}
}

// TestDisk_ReadOnly has a disk that can be written only later.
func TestDisk_ReadOnly(t *testing.T) {
	t.Parallel()
	s := newSmallDisk(t)
	if s == nil {
		return
	}
	s.remount(syscall.MS_RDONLY)
	s.open()
	s.turn(1)
	s.turn(2)
	s.told(1)
	s.remount(0)
	s.turn(3)
	s.told(1)
	s.isAllThere()
	s.undone(3)
}

func (s *smallDisk) remount(flags uintptr) {
	s.t.Helper()
	if err := syscall.Mount("", s.disk, "", syscall.MS_REMOUNT|flags, "size=8m"); err != nil {
		s.t.Fatal(err)
	}
}

// TestDisk_Removed removes all that is stored under a session that goes on.
func TestDisk_Removed(t *testing.T) {
	t.Parallel()
	s := newSmallDisk(t)
	if s == nil {
		return
	}
	s.open()
	s.turn(1)
	entries, err := os.ReadDir(s.disk)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(s.disk, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	s.turn(2)
	s.turn(3)
	s.told(0)
	s.isAllThere()
	s.undone(3)
}
