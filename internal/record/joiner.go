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
	begins  func(string) bool
	write   func(lines []byte) error
	prints  fingerprints // of requests
	waiting []*held
	streams map[string]*stream
	grew    []*stream // since the last flush
	lines   []byte    // that are to be written
	walker  walker
	name    []byte  // of the current stream; a field, as request is, so that its memory is used again
	request []byte  // the current one
	spare   []piece // memory for the next pieces
}

// held is an entry that waits, with the pieces of growing texts in it.
type held struct {
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
		prints: fingerprints{clean: o.Clean, secrets: o.Secrets}, streams: map[string]*stream{},
	}
}

// toolOutput starts a step that is a piece of the output of a tool.
const toolOutput = `{"type":"ToolOutput",`

// add adds the next entry.
func (j *joiner) add(p pending, now time.Time) {
	h := &held{Entry: p.Entry, since: now}
	if p.finish != nil {
		p.finish(j, h)
	}
	switch h.Kind {
	case In:
		h.Data = lineData(h.Data)
	case Out:
		h.Data = lineData(h.Data)
		j.noteFrame(h)
	case Chunk:
		j.noteChunk(h)
	case Step:
		if bytes.HasPrefix(h.Data, []byte(toolOutput)) {
			j.noteTexts(h, string(h.Data), 0, "step "+strconv.Itoa(h.Of)+" ")
		}
	case Ended, Returned:
		of := strconv.Itoa(h.Of)
		j.endStreams("chunk "+of+" ", "step "+of+" ")
	}
	j.waiting = append(j.waiting, h)
}

// noteFrame notes the growing texts of a line that was sent. Any other line of the session ends the growing
// texts before it.
func (j *joiner) noteFrame(h *held) {
	if len(h.Data) == 0 || h.Data[0] != '{' {
		return
	}
	var method, session, update, call string
	live := true // it says nothing of the state of a call
	text := string(h.Data)
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
		j.noteTexts(h, text, 0, of+update+" ")
	case update == "tool_call_update" && strings.Contains(text, `"terminal_output`):
		j.noteTexts(h, text, 0, of+call+" ")
	default:
		j.endStreams(of)
		if update == "tool_call_update" && live {
			h.Data = redact.JSON(h.Data, j.withoutBegun)
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
func (j *joiner) noteChunk(h *held) {
	prefix := "chunk " + strconv.Itoa(h.Of) + " "
	if !h.lines && (len(h.Data) == 0 || h.Data[0] != '"' || json.Unmarshal(h.Data, &h.text) != nil) {
		j.noteTexts(h, string(h.Data), 0, prefix+h.Key+" ")
		return
	}
	h.lines = true
	at := 0
	for line := range strings.Lines(h.text) {
		if from := strings.IndexByte(line, '{'); from >= 0 {
			j.noteTexts(h, line[from:], at+from, prefix)
		}
		at += len(line)
	}
}

// noteTexts notes the growing texts of a JSON text, which stands in held.text from offset at on. prefix is the
// beginning of the names of their streams.
func (j *joiner) noteTexts(h *held, text string, at int, prefix string) {
	if h.text == "" {
		h.text = text
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
		h.pieces = append(h.pieces, g)
		j.name = append(append(j.name[:0], prefix...), path...)
		s := j.streams[string(j.name)]
		if s == nil {
			s = &stream{since: h.since}
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
func (h *held) ready() bool {
	for _, g := range h.pieces {
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
func (j *joiner) appendEntry(h *held) {
	text, changed := h.cleanText()
	switch {
	case h.lines:
		h.Data = appendString(nil, j.eventLines(text))
		j.lines = j.appendLine(j.lines, h.Entry)
		return
	case h.cleaned:
		j.lines = j.appendLine(j.lines, h.Entry)
		return
	case changed:
		h.Data = []byte(text)
	case bytes.IndexByte(h.Data, '\n') >= 0:
		h.Data = compact(h.Data)
	}
	from := len(j.lines)
	j.lines = h.appendTo(j.lines)
	if !j.hasNoSecret(string(j.lines[from:])) {
		h.Data = redact.JSON(h.Data, j.clean)
		j.lines = j.appendLine(j.lines[:from], h.Entry)
	}
}

// cleanText returns the text with its pieces as they are now, and whether any of them has changed.
func (h *held) cleanText() (text string, changed bool) {
	for _, g := range h.pieces {
		changed = changed || g.changed
	}
	if !changed {
		return h.text, false
	}
	var out []byte
	at := 0
	for _, g := range h.pieces {
		out = appendString(append(out, h.text[at:g.start]...), g.text)
		at = g.end
	}
	return string(append(out, h.text[at:]...)), true
}
