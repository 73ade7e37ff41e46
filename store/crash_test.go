package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/store"
	"acp-agent/transcript"
)

// roleEnv makes the test binary one of the processes that tests start.
const roleEnv = "STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	role, dir := os.Getenv(roleEnv), os.Getenv("STORE_TEST_DIR")
	switch role {
	case "":
		os.Exit(m.Run())
	case "record":
		seed, err := strconv.ParseUint(os.Getenv("STORE_TEST_SEED"), 10, 64)
		if err == nil {
			record(dir, seed)
		}
	case "hold":
		r, err := store.New(store.Options{Dir: dir}).Open("ses_x", nil)
		fmt.Println(r != nil, err)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	}
}

// record records a session without end, and says after each event how many there were.
func record(dir string, seed uint64) {
	s := store.New(store.Options{Dir: dir, GroupDelay: time.Millisecond})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, func(err error) { fmt.Println("fault:", err) })
	n := 0
	live := newStream(seed, func(e transcript.Event) {
		r.Emit(e)
		n++
		if isBoundary(e) {
			fmt.Println(n)
		}
	})
	for {
		live.turn(3)
	}
}

// isBoundary reports whether what was emitted is written when Emit returns.
func isBoundary(e transcript.Event) bool {
	switch e := e.(type) {
	case transcript.UserSaid, transcript.AgentSaid, transcript.ToolReady, transcript.ToolFinished, transcript.TurnFinished, transcript.StepFinished:
		return true
	case transcript.ChildEvent:
		_, ended := e.Event.(transcript.TurnFinished) // of a subagent this is not a boundary
		return !ended && isBoundary(e.Event)
	}
	return false
}

func process(t *testing.T, role, dir string, seed uint64) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "STORE_TEST_DIR="+dir, "STORE_TEST_SEED="+strconv.FormatUint(seed, 10))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestCrash_KillAtAnyMoment holds that after a kill the session is what it was after some event
// that is not before the last one acknowledged, and that it goes on.
func TestCrash_KillAtAnyMoment(t *testing.T) {
	t.Parallel()
	kills := testreq.Rounds(6, 20)
	if n, err := strconv.Atoi(os.Getenv("STORE_KILLS")); err == nil {
		kills = n
	}
	for seed := range uint64(kills) {
		dir := filepath.Join(t.TempDir(), "sessions")
		acked := killed(t, dir, seed)
		s := store.New(store.Options{Dir: dir})
		st, got := load(t, s, "ses_x")
		if !st.Damage.None() {
			t.Fatalf("seed %d: %+v", seed, st.Damage)
		}
		checkPrefix(t, seed, acked, got)
		r, err := s.Open("ses_x", fail(t))
		if err != nil {
			t.Fatal(err)
		}
		resumed, _, err := r.Resume(context.Background(), at, nil)
		if err != nil {
			t.Fatal(err)
		}
		say(r, "msg_again", "go on")
		if err := errors.Join(r.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		st, again := load(t, s, "ses_x")
		if !st.Damage.None() || st.Damage.Torn > 0 {
			t.Fatalf("seed %d, resumed: %+v", seed, st.Damage)
		}
		again.Messages = again.Messages[:len(again.Messages)-1]
		if diff := cmp.Diff(resumed, again, records, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: what was resumed is not stored (-want +got):\n%s", seed, diff)
		}
	}
}

// killed runs a recorder, kills it, and returns the last acknowledged event.
func killed(t *testing.T, dir string, seed uint64) (acked int) {
	t.Helper()
	cmd := process(t, "record", dir, seed)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	random := rand.New(rand.NewPCG(seed, 9))
	for i := 0; ; i++ {
		text, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			t.Fatal(text)
		}
		if acked = n; i == 0 {
			time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	return acked
}

// checkPrefix makes the same events again until what was loaded is what they make.
func checkPrefix(t *testing.T, seed uint64, acked int, got transcript.Snapshot) {
	t.Helper()
	found, n, diff := false, 0, ""
	want := comparable(got.Messages)
	var live *stream
	live = newStream(seed, func(transcript.Event) {
		n++
		if n < acked || found || n > acked+300 {
			return
		}
		d := cmp.Diff(comparable(live.log.Record()), want, records, cmpopts.EquateEmpty())
		if n == acked {
			diff = d
		}
		found = d == ""
	})
	for n < acked+300 {
		live.turn(3)
	}
	if !found {
		t.Fatalf("seed %d: not what it was after event %d or later (-then +loaded):\n%s", seed, acked, diff)
	}
}

// comparable leaves out what a kill may lose: texts that still grew.
func comparable(messages []*transcript.Message) []*transcript.Message {
	var list []*transcript.Message
	for _, m := range messages {
		copied := *m
		copied.Parts = nil
		for _, part := range m.Parts {
			call, isCall := part.(*transcript.ToolPart)
			switch {
			case isCall:
				c := *call
				if c.Child != nil && !c.Child.Brief().Inspectable {
					record := c.Child.Record()
					below := comparable(record.Messages)
					record.Messages = nil
					c.Child = transcript.NewChild(record, transcript.NewLog(below...))
				}
				copied.Parts = append(copied.Parts, &c)
			case m.Finished:
				copied.Parts = append(copied.Parts, part)
			}
		}
		list = append(list, &copied)
	}
	return list
}

// TestLock_TwoProcesses holds that a session is open once, that the second process is told which one has it,
// and that a process which was killed has it no longer.
func TestLock_TwoProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir, LockWait: 10 * time.Millisecond})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	say(r, "msg_1", "hello")
	if _, err := s.Open("ses_x", nil); !isBusy(err, os.Getpid()) {
		t.Errorf("a second Open in one process: %v", err)
	}
	if err := s.Delete("ses_x"); !isBusy(err, os.Getpid()) {
		t.Errorf("Delete of an open session: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := process(t, "hold", dir, 0)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if text, err := bufio.NewReader(out).ReadString('\n'); text != "true <nil>\n" {
		t.Fatalf("the other process: %q, %v", text, err)
	}
	_, err = s.Open("ses_x", nil)
	if !isBusy(err, cmd.Process.Pid) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", cmd.Process.Pid)) {
		t.Errorf("Open of a session that another process has: %v", err)
	}
	if _, err := s.Load("ses_x"); err != nil {
		t.Errorf("it can be read: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r, err = s.Open("ses_x", fail(t))
	if err != nil {
		t.Fatalf("after the owner was killed: %v", err)
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func isBusy(err error, pid int) bool {
	var busy *store.BusyError
	return errors.As(err, &busy) && busy.Owner.PID == pid && busy.ID == "ses_x"
}
