package store

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// liveFile has the texts that still grow, in small lines. When a text has ended, it is one line of the
// session's record, which is quick to load and can be searched. When no text grows any more, the live file
// is emptied. It is never synced.
type liveFile struct {
	store   *Store
	path    string
	f       sessionFile
	size    int64
	waiting int // bytes of text since the last flush
}

// liveBytes is how much text is written at once, without waiting for the timer.
const liveBytes = 64 << 10

// growth is the data of an opGrow line.
type growth struct {
	From      int    `json:"from"` // how many bytes of the text are in the lines before
	ID        string `json:"id"`
	Reasoning bool   `json:"reasoning,omitempty"`
	Text      string `json:"text"`
}

// writeLive writes the growth of the open texts.
func (r *Recorder) writeLive() error {
	r.live.waiting = 0
	var lines []byte
	held := false // the live file has a text that is still open
	for _, t := range r.conversations() {
		for _, p := range t.parts {
			lines = r.grow(lines, t, p)
			held = held || p.listed
		}
	}
	err := r.live.write(lines, held)
	if err != nil {
		r.regrow()
	}
	return err
}

// regrow makes the next flush write all of the open texts again.
func (r *Recorder) regrow() {
	for _, t := range r.conversations() {
		for _, p := range t.parts {
			text := strings.Join(append(p.text, p.fresh.String()), "")
			p.fresh.Reset()
			p.fresh.WriteString(text)
			p.text, p.grown, p.listed = nil, 0, false
		}
	}
}

func (r *Recorder) conversations() []*openConversation {
	return append(slices.Collect(maps.Values(r.subagents)), r.root)
}

// grow appends a line with the growth of a part that can be written.
func (r *Recorder) grow(lines []byte, t *openConversation, p *openPart) []byte {
	text := p.fresh.String()
	end := len(text)
	if r.store.cleans {
		end = safeLength(text)
	}
	if end == 0 && p.listed {
		return lines
	}
	p.listed = true
	g := growth{From: p.grown, ID: p.part.ID, Reasoning: p.kind == transcript.ReasoningKind, Text: r.store.o.Clean(text[:end])}
	data, err := encode(g)
	if err != nil { // a struct of strings always has a form
		return lines
	}
	p.text = append(p.text, text[:end])
	p.grown += len(g.Text)
	p.fresh.Reset()
	p.fresh.WriteString(text[end:])
	l := line{kind: partKind, at: r.store.o.Now().UnixMilli(), sub: t.sub, of: p.of, n: p.n, op: opGrow, data: data}
	return l.append(lines)
}

func (l *liveFile) write(lines []byte, held bool) (err error) {
	if len(lines) == 0 && (held || l.size == 0) {
		return nil
	}
	if l.f == nil {
		if l.f, err = l.store.o.open(l.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC); err != nil {
			return err
		}
		l.size = 0
	}
	if !held {
		if err := l.f.Truncate(0); err != nil {
			return l.fail(err)
		}
		l.size = 0
		return nil
	}
	n, err := l.f.WriteAt(lines, l.size)
	if err != nil {
		return l.fail(err)
	}
	l.size += int64(n)
	return nil
}

// fail closes the file, so that the next write starts with an empty one.
func (l *liveFile) fail(err error) error {
	err = errors.Join(err, l.f.Close())
	l.f, l.size = nil, 0
	return err
}

// drop closes a file that was removed.
func (l *liveFile) drop() {
	if l.f != nil {
		_ = l.f.Close()
	}
	l.f, l.size = nil, 0
}

// remove closes and removes the file.
func (l *liveFile) remove() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return errors.Join(err, userfile.Remove(l.path))
}
