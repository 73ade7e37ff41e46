package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/userfile"
)

// Memory keeps the finding of the last trial in a private file, so that a new process
// can say at once which modes it expects to have (R157). Nothing is confined by it: the
// trial of this process decides before the first command. Its fields are set before use.
type Memory struct {
	Finder *Finder
	// Path is the file. Its directory is made when the file is written.
	Path string
	// ReadOnly leaves the file as it is.
	ReadOnly bool

	keyed sync.Once
	now   string // the key when the process started
}

// keptFinding is what the file holds.
type keptFinding struct {
	// Key stands for all that the trial depends on; a finding with another one is ignored.
	Key    string `json:"key"`
	Report Report `json:"report"`
}

const (
	mostKept     = 16 << 10 // bytes of the file
	keepLockWait = time.Second
)

// Expected is the finding that the trial of this process will most likely make. What
// needs no trial is always known; else ok is false where the file is missing, broken,
// not this user's alone, or of a machine that was in another state.
func (m *Memory) Expected() (report Report, ok bool) {
	if m.certain() {
		return m.Finder.Find(context.Background()), true
	}
	data, err := userfile.Read(m.Path, mostKept)
	var kept keptFinding
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Key != m.state() {
		return Report{}, false
	}
	return kept.Report, true
}

// Keep writes the finding of a trial for the next process. What keeps it from being
// written does no harm: the next process does not know the finding before its own trial.
func (m *Memory) Keep(ctx context.Context, report Report) error {
	if m.ReadOnly || m.certain() {
		return nil
	}
	data, err := json.Marshal(keptFinding{Key: m.state(), Report: report})
	if err != nil {
		return err
	}
	if old, err := userfile.Read(m.Path, mostKept); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := userfile.MakeDir(filepath.Dir(m.Path)); err != nil {
		return err // where others may write, so might a link of theirs in the place of the lock
	}
	unlock, err := userfile.Lock(ctx, m.Path+".lock", keepLockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return userfile.Replace(m.Path, data)
}

// certain reports whether no trial is needed to know the finding.
func (m *Memory) certain() bool { return m.Finder.Level == None || len(candidates()) == 0 }

// state is the key of this process, which does not change while it runs.
func (m *Memory) state() string {
	m.keyed.Do(func() { m.now = m.key() })
	return m.now
}

// key stands for what the trial depends on: the start of the machine, the kernel and its
// settings, our own binary, the program that confines, the user, what confines the agent
// itself, and the configuration.
func (m *Memory) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "1\n%s\n%d %d\n%s\n", m.Finder.Level, os.Getuid(), os.Getgid(), m.Finder.Dir)
	writeState(&b, m.Finder.Launcher.Self)
	for _, kind := range candidates() {
		program, err := programOf(kind)
		fmt.Fprintf(&b, "%s %v\n", kind, err)
		writeState(&b, program)
	}
	writeMachine(&b)
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// writeState writes what changes when a file is replaced.
func writeState(b *strings.Builder, path string) {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		fmt.Fprintf(b, "%s -\n", path)
		return
	}
	fmt.Fprintf(b, "%s %d %d %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// writeFiles writes what small files of the system say; one that is not there says nothing.
func writeFiles(b *strings.Builder, paths ...string) {
	for _, path := range paths {
		text, _ := os.ReadFile(path) // else it counts as empty
		fmt.Fprintf(b, "%s %s\n", path, strings.TrimSpace(string(text)))
	}
}
