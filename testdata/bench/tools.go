package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// text is a file of some size that the tools work on.
var text = strings.Repeat("a line of a file that is read\n", 100)

// timed opens a session and measures turns, per call.
func (r *run) timed(s *subject, row string, turns, calls int, prepare func(turn int)) error {
	session, _, err := s.open()
	if err != nil {
		return err
	}
	s.editFreely(session)
	value, err := typical(turns, func(i int) (time.Duration, error) {
		prepare(i)
		took, err := s.prompt(session, "work")
		return took / time.Duration(calls), err
	})
	return r.note(row, s, value, err)
}

// editFreely changes to the mode in which edits in the project are not asked about. The
// floor has no modes and asks about nothing.
func (s *subject) editFreely(session string) {
	_, _ = s.call("session/set_mode", map[string]any{"sessionId": session, "modeId": "code"}, nil)
}

// files writes the files that are read, each its own: an agent may take a call that is
// repeated for a loop.
func (s *subject) files(n int) (args []map[string]any, err error) {
	for i := range n {
		path := s.project(fmt.Sprintf("read%d.txt", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
		args = append(args, map[string]any{"path": path})
	}
	return args, nil
}

func (r *run) reads(s *subject) error {
	files, err := s.files(50)
	if err != nil {
		return err
	}
	return r.timed(s, "50 sequential reads, per call", 3, len(files), func(turn int) {
		r.model.steps(sequence(fmt.Sprintf("r%d_", turn), "read", len(files), func(i int) map[string]any { return files[i] })...)
	})
}

func (r *run) parallelReads(s *subject) error {
	files, err := s.files(20)
	if err != nil {
		return err
	}
	return r.timed(s, "20 parallel reads in one step", 7, 1, func(turn int) {
		r.model.steps(calling(fmt.Sprintf("p%d_", turn), "read", files...), say("done", 1))
	})
}

func (r *run) bash(s *subject) error {
	err := r.timed(s, "bash call", 3, 10, func(turn int) {
		r.model.steps(sequence(fmt.Sprintf("b%d_", turn), "bash", 10, func(i int) map[string]any {
			return map[string]any{"cmd": fmt.Sprint("echo word ", i)}
		})...)
	})
	if err != nil {
		return err
	}
	value, err := typical(7, func(int) (time.Duration, error) { return r.firstBash(s) })
	return r.note("bash call, first of a process", s, value, err)
}

// firstBash spawns the program anew for one turn with one command.
func (r *run) firstBash(s *subject) (time.Duration, error) {
	fresh, err := start(r.ctx, s.name, r.binaries[s.name], filepath.Join(r.dir, s.name), r.model.URL)
	if err != nil {
		return 0, err
	}
	if err := fresh.initialize(); err != nil {
		return 0, err
	}
	session, _, err := fresh.open()
	if err != nil {
		return 0, err
	}
	fresh.editFreely(session)
	time.Sleep(settling)
	r.model.steps(calling("first", "bash", map[string]any{"cmd": "true"}), say("done", 1))
	took, err := fresh.prompt(session, "work")
	if err != nil {
		return 0, err
	}
	_, err = fresh.stop()
	return took, err
}

// settling is what a user takes at least to write a first prompt.
const settling = 300 * time.Millisecond

// edits measures edits, and what the two fsyncs of a careful one cost on this disk.
func (r *run) edits(s *subject) error {
	path := s.project("edit.txt")
	if err := os.WriteFile(path, []byte(text+"version 0\n"), 0o644); err != nil {
		return err
	}
	n := 0
	err := r.timed(s, "edit call", 3, 20, func(turn int) {
		r.model.steps(sequence(fmt.Sprintf("e%d_", turn), "edit", 20, func(int) map[string]any {
			n++
			return map[string]any{
				"path": path, "old_str": fmt.Sprintf("version %d\n", n-1), "new_str": fmt.Sprintf("version %d\n", n),
			}
		})...)
	})
	if err != nil {
		return err
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != fmt.Sprintf("%sversion %d\n", text, n) {
		return fmt.Errorf("the edits did not take place: %w", err)
	}
	value, err := typical(11, func(int) (time.Duration, error) { return syncOnce(s.home) })
	return r.note("fsync of a small file and its directory", s, value, err)
}

// syncOnce writes a small file the way that survives a power cut, and says how long the
// two fsyncs took.
func syncOnce(dir string) (took time.Duration, err error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		return 0, err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	begun := time.Now()
	if err := file.Sync(); err != nil {
		return 0, err
	}
	took = time.Since(begun)
	if err := os.Rename(file.Name(), filepath.Join(dir, "synced")); err != nil {
		return 0, err
	}
	begun = time.Now()
	err = folder.Sync()
	return took + time.Since(begun), err
}

// grep compares the tool with ripgrep over the Go source tree, in a process of its own,
// so that the rows above do not hold what it takes. The floor has no grep.
func (r *run) grep() error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return nil // the rows are missing from the table
	}
	s, err := start(r.ctx, "agent", r.binaries["agent"], filepath.Join(r.dir, "grep"), r.model.URL)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.initialize(); err != nil {
		return err
	}
	root, err := exec.CommandContext(r.ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	tree := filepath.Join(strings.TrimSpace(string(root)), "src")
	for _, q := range []struct{ name, pattern string }{
		{"literal", `func ReadAll`}, {"expression", `func \(\w+ \*?\w+\) ReadAt\(`},
	} {
		r.model.steps(calling("g"+q.name, "grep", map[string]any{"pattern": q.pattern, "path": tree, "caseSensitive": true}), say("done", 1))
		cmds := make([]*exec.Cmd, 3)
		theirs, err := typical(len(cmds), func(i int) (time.Duration, error) {
			cmds[i] = exec.CommandContext(r.ctx, rg, "-n", "-e", q.pattern, tree)
			begun := time.Now()
			err := cmds[i].Run()
			return time.Since(begun), err
		})
		if err != nil {
			return err
		}
		var theirCPU []float64
		for _, cmd := range cmds {
			theirCPU = append(theirCPU, milliseconds(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()))
		}
		ours, ourCPU, err := r.search(s, tree)
		if err != nil {
			return err
		}
		r.results.add("grep, "+q.name+", CPU over ripgrep", s.name, ourCPU/median(theirCPU))
		r.results.add("grep, "+q.name+", wall over ripgrep", s.name, ours/theirs)
	}
	return nil
}

// search measures turns with one search each, wall and CPU.
func (r *run) search(s *subject, tree string) (wall, cpu float64, err error) {
	var opened struct{ SessionID string }
	if _, err := s.call("session/new", map[string]any{"cwd": tree, "mcpServers": []any{}}, &opened); err != nil {
		return 0, 0, err
	}
	var cpus []float64
	wall, err = typical(3, func(int) (time.Duration, error) {
		r.model.play.Load().asked.Store(0)
		before, err := cpuOf(s.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		took, err := s.prompt(opened.SessionID, "search")
		if err != nil {
			return 0, err
		}
		after, err := cpuOf(s.cmd.Process.Pid)
		cpus = append(cpus, milliseconds(after-before))
		return took, err
	})
	return wall, median(cpus), err
}
