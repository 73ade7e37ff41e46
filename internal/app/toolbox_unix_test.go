//go:build unix

package app

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"acp-agent/config"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// R93: neither the answer to initialize nor that to session/new starts a script, or waits
// for one. Here a script that describes itself reads a pipe first, so that it can be seen
// whether there is one that reads.
func TestCore_SessionStartsNoScript(t *testing.T) {
	core := newCore(io.Discard)
	dir := t.TempDir()
	core.stateDir, core.sources = filepath.Join(dir, "state"), config.Sources{ConfigDir: filepath.Join(dir, "config")}
	core.scripted = noModel{}
	defer core.Close()
	box := filepath.Join(dir, "config", "acp-agent", "toolbox")
	if err := os.MkdirAll(box, 0o755); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(box, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(box, "told"), []byte("#!/bin/sh\ncat \"$(dirname \"$0\")/pipe\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(box, "told"), 0o755); err != nil { // whatever the umask
		t.Fatal(err)
	}
	reads := func() (*os.File, bool) {
		file, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return file, err == nil
	}
	core.Warm() // after the answer to initialize
	s, err := core.Open(t.Context(), session.Spec{Cwd: t.TempDir(), Client: session.Client{Sink: transcript.Discard}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(0)
	if _, ok := reads(); ok {
		t.Error("a script was started before session/new was answered")
	}
	s.Start()
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens when the script reads
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(writer, "name: told\ndescription: d\n"); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	s.AwaitTools(t.Context(), false)
	if !slices.ContainsFunc(s.Tools(), func(e *tools.Entry) bool { return e.ID == "tb__told" }) {
		t.Errorf("the script's tool is not there: %v", core.problems())
	}
}
