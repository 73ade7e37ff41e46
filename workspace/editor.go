package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"acp-agent/tools"
)

// Editor is the client's file access (R155). Paths are absolute, in the
// client's own spelling. It is called from several goroutines at once and must
// return when ctx ends.
type Editor interface {
	// CanRead and CanWrite say which halves the client offers.
	CanRead() bool
	CanWrite() bool
	// ReadTextFile returns a file's text; line (1-based) and limit are 0 for
	// the whole of it. An error that wraps ErrNoText is the editor's own answer.
	ReadTextFile(ctx context.Context, path string, line, limit int) (string, error)
	// WriteTextFile replaces a file's text.
	WriteTextFile(ctx context.Context, path, content string) error
}

// ErrNoText marks the answer of an editor that has no text of a file to give:
// the disk is read in its place. After any other error, such as an answer that
// cannot be understood, nothing is known of unsaved changes.
var ErrNoText = errors.New("the editor has no text of the file")

// editing is the editor's part in a session, and what was last seen of it.
type editing struct {
	editor  Editor
	timeout time.Duration

	mu   sync.Mutex
	seen map[string]sighting // by resolved path
}

// sighting is a file as the editor and the disk had it when we last looked.
type sighting struct {
	buffer, disk digest
	// clean says that they were the same text.
	clean bool
}

func (e *editing) reads() bool  { return e.editor != nil && e.editor.CanRead() }
func (e *editing) writes() bool { return e.reads() && e.editor.CanWrite() }

// errNoAnswer is the cause of a request that the editor left unanswered.
var errNoAnswer = errors.New("the editor did not answer")

// ask runs one request with the time limit.
func (e *editing) ask(ctx context.Context, request func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, e.timeout, errNoAnswer)
	defer cancel()
	err := request(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return errNoAnswer
	}
	return err
}

// read asks for a buffer's text. ok is false when the editor says that it has
// none to give, and the disk is to be read; no answer at all, and one that is
// malformed, is an error, so that unsaved work is never passed over in silence.
func (e *editing) read(ctx context.Context, path string) (text string, ok bool, err error) {
	err = e.ask(ctx, func(ctx context.Context) (err error) {
		text, err = e.editor.ReadTextFile(ctx, path, 0, 0)
		return err
	})
	switch {
	case err == nil:
		return text, true, nil
	case errors.Is(err, errNoAnswer):
		return "", false, e.silence("read", path, "nothing is known of unsaved changes")
	case ctx.Err() != nil:
		return "", false, err
	case errors.Is(err, ErrNoText):
		return "", false, nil
	}
	return "", false, &tools.Error{
		Kind: tools.Backend, Path: path, Err: err,
		Message: fmt.Sprintf("read '%s': the editor's answer cannot be used: %v; nothing is known of unsaved changes", path, err),
	}
}

// write hands a text to the editor. There is no second way: after a failure
// nothing is written to the disk without the editor.
func (e *editing) write(ctx context.Context, path, text string) error {
	err := e.ask(ctx, func(ctx context.Context) error { return e.editor.WriteTextFile(ctx, path, text) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoAnswer):
		return e.silence("write", path, "it is not known whether the change was made")
	case ctx.Err() != nil:
		return err
	}
	return &tools.Error{
		Kind: tools.Backend, Path: path, Err: err,
		Message: fmt.Sprintf("the editor did not write '%s': %v", path, err),
	}
}

func (e *editing) silence(op, path, consequence string) error {
	return &tools.Error{
		Kind: tools.Timeout, Path: path, Err: errNoAnswer,
		Message: fmt.Sprintf("%s '%s': the editor did not answer within %s; %s", op, path, e.timeout, consequence),
	}
}

// side says whose text of a file counts.
type side int

const (
	sidesAgree side = iota
	editorSide      // the buffer holds unsaved work
	diskSide        // the buffer is clean and out of date
)

// judge compares a file's buffer with its disk, and remembers both. A buffer
// that still is what the disk held when we last looked has no work in it: if
// the disk is another by now, a command changed it, and the disk counts. In all
// other cases a difference is unsaved work.
func (e *editing) judge(real, inBuffer, onDisk string) side {
	now := sighting{buffer: digestOf(inBuffer), disk: digestOf(onDisk), clean: sameText(inBuffer, onDisk)}
	e.mu.Lock()
	defer e.mu.Unlock()
	last, known := e.seen[real]
	switch {
	case now.clean:
		e.remember(real, now)
		return sidesAgree
	case known && last.clean && last.buffer == now.buffer:
		return diskSide // the sighting stays: the buffer is as clean as it was
	}
	e.remember(real, now)
	return editorSide
}

// maxSeen bounds the memory of sightings; without one a difference counts as
// unsaved work, which is the careful answer.
const maxSeen = 10_000

// remember notes a sighting. The caller holds mu.
func (e *editing) remember(real string, s sighting) {
	if len(e.seen) >= maxSeen {
		clear(e.seen)
	}
	e.seen[real] = s
}

// wrote notes what was handed to the editor, and what the disk holds since.
func (e *editing) wrote(real, text, onDisk string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remember(real, sighting{buffer: digestOf(text), disk: digestOf(onDisk), clean: sameText(text, onDisk)})
}
