package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"acp-agent/internal/redact"
)

// longestHold is how long an entry waits for the rest of a word that may be the beginning of a
// secret. A killed process loses the entries of that time.
const longestHold = time.Second

// joiner removes secrets from entries, and writes the entries in order. It cleans a text that arrives in pieces as a
// whole: an entry waits until the words are complete that it has a part of.
type joiner struct {
	cleaner
	begins       func(string) bool
	write        func(lines []byte) error
	fingerprints fingerprints // of requests
	waiting      []*waitingEntry
	streams      map[string]*stream
	grew         []*stream // since the last flush
	lines        []byte    // that are to be written
	walker       walker
	name         []byte  // of the current stream; a field, as request is, so that its memory is used again
	request      []byte  // the current one
	spare        []piece // memory for the next pieces
}

// waitingEntry is an entry that waits, with the pieces of growing texts in it.
type waitingEntry struct {
	Entry
	since  time.Time
	pieces []*piece
	// text is the JSON text in which the pieces stand: the data, or when lines is set, the lines of an event
	// stream, of which the data is one string.
	text  string
	lines bool
	// cleaned says that the data has no secret.
	cleaned bool
}

// newJoiner returns a joiner that passes lines to write.
func newJoiner(o Options, write func(lines []byte) error) *joiner {
	return &joiner{
		cleaner: cleaner{o.Clean}, begins: o.Begins, write: write,
		fingerprints: fingerprints{clean: o.Clean, secrets: o.Secrets}, streams: map[string]*stream{},
	}
}

// toolOutput starts a step that is a piece of the output of a tool.
const toolOutput = `{"type":"ToolOutput",`

// add adds the next entry.
func (j *joiner) add(p pending, now time.Time) {
	w := &waitingEntry{Entry: p.Entry, since: now}
	if p.complete != nil {
		p.complete(j, w)
	}
	switch w.Kind {
	case In:
		w.Data = lineData(w.Data)
	case Out:
		w.Data = lineData(w.Data)
		j.noteFrame(w)
	case Chunk:
		j.noteChunk(w)
	case Step:
		if bytes.HasPrefix(w.Data, []byte(toolOutput)) {
			j.noteTexts(w, string(w.Data), 0, "step "+strconv.Itoa(w.Of)+" ")
		}
	case Ended, Returned:
		of := strconv.Itoa(w.Of)
		j.endStreams("chunk "+of+" ", "step "+of+" ")
	}
	j.waiting = append(j.waiting, w)
}

// noteFrame notes the growing texts of a line that was sent. Any other line of the session ends the growing
// texts before it.
func (j *joiner) noteFrame(w *waitingEntry) {
	if len(w.Data) == 0 || w.Data[0] != '{' {
		return
	}
	var method, session, update, call string
	live := true // it says nothing of the state of a call
	text := string(w.Data)
	j.walker.strings(text, func(path, _ []byte, l leaf) {
		switch string(path) {
		case ".method":
			method, _ = l.value()
		case ".params.sessionId":
			session, _ = l.value()
		case ".params.update.sessionUpdate":
			update, _ = l.value()
		case ".params.update.toolCallId":
			call, _ = l.value()
		case ".params.update.status":
			live = false
		}
	})
	of := "out " + session + " "
	switch {
	case method != "session/update":
		if method == "" {
			j.endStreams("out ")
		}
	case strings.HasSuffix(update, "_chunk"):
		j.noteTexts(w, text, 0, of+update+" ")
	case update == "tool_call_update" && strings.Contains(text, `"terminal_output`):
		j.noteTexts(w, text, 0, of+call+" ")
	default:
		j.endStreams(of)
		if update == "tool_call_update" && live {
			w.Data = redact.JSON(w.Data, j.withoutBegun)
		}
	}
}

// withoutBegun is what a card shows of a call that runs, without the beginning of a secret at its end: the rest comes with
// a later update, which shows it whole. The text may stand in a fence of Markdown.
func (j *joiner) withoutBegun(text string) string {
	body, fence := text, ""
	if at := strings.LastIndex(text, "\n```"); at >= 0 {
		body, fence = text[:at], text[at:]
	}
	if !j.begins(body) {
		return text
	}
	return body[:strings.LastIndexAny(body, " \t\n")+1] + redact.Mask + fence
}

// noteChunk notes the growing texts of a piece of a model's answer: a JSON value, or lines of an event stream as
// one string.
func (j *joiner) noteChunk(w *waitingEntry) {
	prefix := "chunk " + strconv.Itoa(w.Of) + " "
	if !w.lines && (len(w.Data) == 0 || w.Data[0] != '"' || json.Unmarshal(w.Data, &w.text) != nil) {
		j.noteTexts(w, string(w.Data), 0, prefix+w.Key+" ")
		return
	}
	w.lines = true
	at := 0
	for line := range strings.Lines(w.text) {
		if from := strings.IndexByte(line, '{'); from >= 0 {
			j.noteTexts(w, line[from:], at+from, prefix)
		}
		at += len(line)
	}
}

// noteTexts notes the growing texts of a JSON text, which stands in waitingEntry.text from offset at on. prefix is the
// beginning of the names of their streams.
func (j *joiner) noteTexts(w *waitingEntry, text string, at int, prefix string) {
	if w.text == "" {
		w.text = text
	}
	j.walker.strings(text, func(path, name []byte, l leaf) {
		if !comesInPieces(name) {
			return
		}
		value, ok := l.value()
		if !ok || value == "" {
			return
		}
		g := j.newPiece()
		*g = piece{start: at + l.start, end: at + l.end, text: value}
		w.pieces = append(w.pieces, g)
		j.name = append(append(j.name[:0], prefix...), path...)
		s := j.streams[string(j.name)]
		if s == nil {
			s = &stream{since: w.since}
			j.streams[string(j.name)] = s
		}
		s.open = append(s.open, g)
		if !s.grew {
			s.grew = true
			j.grew = append(j.grew, s)
		}
	})
}

// newPiece returns memory for a piece, which it allocates for many at once.
func (j *joiner) newPiece() *piece {
	const many = 128
	if len(j.spare) == 0 {
		j.spare = make([]piece, many)
	}
	g := &j.spare[0]
	j.spare = j.spare[1:]
	return g
}

// endStreams makes the streams with one of some prefixes final, because nothing follows in them.
func (j *joiner) endStreams(prefixes ...string) {
	for name, s := range j.streams {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				text := s.text()
				s.release(j.clean, text, len(text), s.since)
				delete(j.streams, name)
				break
			}
		}
	}
}

// flush writes the entries that are final; all says that no entry follows.
func (j *joiner) flush(all bool, now time.Time) (err error) {
	for _, s := range j.grew {
		text := s.text()
		s.release(j.clean, text, safeLength(text), now)
		s.grew = false
	}
	j.grew = j.grew[:0]
	for name, s := range j.streams {
		if !all && now.Sub(s.since) < longestHold {
			continue
		}
		if text := s.text(); all || len(text) > 0 && !j.begins(text) {
			s.release(j.clean, text, len(text), now)
			delete(j.streams, name)
		}
	}
	for len(j.waiting) > 0 && j.waiting[0].ready() {
		j.appendEntry(j.waiting[0])
		j.waiting[0] = nil
		j.waiting = j.waiting[1:]
		if len(j.lines) >= maxBuffered {
			err = errors.Join(err, j.writeLines())
		}
	}
	return errors.Join(err, j.writeLines())
}

// maxBuffered is how much is written at once, in bytes.
const maxBuffered = 256 << 10

func (j *joiner) writeLines() (err error) {
	if len(j.lines) > 0 {
		err = j.write(j.lines)
	}
	if cap(j.lines) > 2*maxBuffered {
		j.lines = nil
	}
	j.lines = j.lines[:0]
	return err
}

// ready reports whether the entry can be written.
func (w *waitingEntry) ready() bool {
	for _, g := range w.pieces {
		if !g.final {
			return false
		}
	}
	return true
}

// flushTime returns a channel that receives when flush has to be called although no entry came; nil means never.
func (j *joiner) flushTime() <-chan time.Time {
	if len(j.waiting) == 0 {
		return nil
	}
	return time.After(longestHold / 4)
}

// appendEntry appends the line of an entry, without secrets, to lines.
func (j *joiner) appendEntry(w *waitingEntry) {
	text, changed := w.cleanText()
	switch {
	case w.lines:
		w.Data = appendString(nil, j.eventLines(text))
		j.lines = j.appendLine(j.lines, w.Entry)
		return
	case w.cleaned:
		j.lines = j.appendLine(j.lines, w.Entry)
		return
	case changed:
		w.Data = []byte(text)
	case bytes.IndexByte(w.Data, '\n') >= 0:
		w.Data = compact(w.Data)
	}
	from := len(j.lines)
	j.lines = w.appendTo(j.lines)
	if !j.hasNoSecret(string(j.lines[from:])) {
		w.Data = redact.JSON(w.Data, j.clean)
		j.lines = j.appendLine(j.lines[:from], w.Entry)
	}
}

// cleanText returns the text with its pieces as they are now, and whether any of them has changed.
func (w *waitingEntry) cleanText() (text string, changed bool) {
	for _, g := range w.pieces {
		changed = changed || g.changed
	}
	if !changed {
		return w.text, false
	}
	var out []byte
	at := 0
	for _, g := range w.pieces {
		out = appendString(append(out, w.text[at:g.start]...), g.text)
		at = g.end
	}
	return string(append(out, w.text[at:]...)), true
}
