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

// liveFile holds the texts that still grow, in small lines. When a text has ended, the session's
// file has it as one line, which is short to load and can be searched; then the live file is
// emptied. It is never synced.
type liveFile struct {
	store   *Store
	path    string
	f       sessionFile
	size    int64
	waiting int // bytes of text since the last flush
}

// liveBytes is how much text may wait before it is written without waiting for the timer.
const liveBytes = 64 << 10

// growth is the data of an opGrow line.
type growth struct {
	From      int    `json:"from"` // how many bytes of the text stand in lines before
	ID        string `json:"id"`
	Reasoning bool   `json:"reasoning,omitempty"`
	Text      string `json:"text"`
}

// writeLive writes what texts have grown by.
func (r *Recorder) writeLive() error {
	r.live.waiting = 0
	var lines []byte
	held := false // the live file holds something that is needed
	for _, t := range r.allTalks() {
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

// regrow has the next flush write all of the growing texts again.
func (r *Recorder) regrow() {
	for _, t := range r.allTalks() {
		for _, p := range t.parts {
			text := strings.Join(append(p.text, p.fresh.String()), "")
			p.fresh.Reset()
			p.fresh.WriteString(text)
			p.text, p.grown, p.listed = nil, 0, false
		}
	}
}

func (r *Recorder) allTalks() []*talk {
	return append(slices.Collect(maps.Values(r.talks)), r.root)
}

// grow appends a line with what can be written of a part.
func (r *Recorder) grow(lines []byte, t *talk, p *openPart) []byte {
	text := p.fresh.String()
	end := len(text)
	if r.store.cleans {
		end = settled(text)
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

// fail closes the file, so that the next write begins with an empty one.
func (l *liveFile) fail(err error) error {
	err = errors.Join(err, l.f.Close())
	l.f, l.size = nil, 0
	return err
}

// lose closes a file that has lost its name.
func (l *liveFile) lose() {
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
