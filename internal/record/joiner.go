package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/internal/redact"
)

const (
	// longestHold is how long an entry waits for the rest of a word that may be the beginning of a
	// secret. A killed process loses the entries of that time.
	longestHold = time.Second
	// heldWords and heldBytes bound the end of a growing text that waits for more.
	heldWords = 4
	heldBytes = 4 << 10
)

// joiner removes secrets from entries, and writes the entries in order. It cleans a text that arrives in
// pieces as a whole: an entry waits until the words are complete of which it has a part.
type joiner struct {
	cleaner
	begins  func(string) bool
	write   func(lines []byte) error
	prints  fingerprints
	waiting []*held
	streams map[string]*stream
	grew    []*stream // since the last flush
	lines   []byte    // that are to be written
	walker  walker
	name    []byte // of a stream; this and request are kept for the next one
	request []byte
	spare   []grown // from which the next ones are taken
}

// grown is a growing text in an entry.
type grown struct {
	start, end int // the place of its literal in held.text
	text       string
	final      bool // it has no secret, and does not change any more
	changed    bool // text is not what the literal says
}

// held is an entry that waits, with the growing texts in it.
type held struct {
	Entry
	since time.Time
	texts []*grown
	// text is the JSON text in which the places of texts are. It is the data, or when lines is set, the lines
	// of which the data is one string.
	text  string
	lines bool
	// cleaned says that the data has no secret.
	cleaned bool
}

// stream is the part of a growing text that is not final.
type stream struct {
	open  []*grown
	since time.Time
	grew  bool // it is in joiner.grew
}

func newJoiner(o Options, write func(lines []byte) error) *joiner {
	return &joiner{
		cleaner: cleaner{o.Clean}, begins: o.Begins, write: write,
		prints: fingerprints{clean: o.Clean, secrets: o.Secrets}, streams: map[string]*stream{},
	}
}

// add adds the next entry.
func (j *joiner) add(p pending, now time.Time) {
	h := &held{Entry: p.Entry, since: now}
	if p.finish != nil {
		p.finish(j, h)
	}
	switch h.Kind {
	case In:
		h.Data = raw(h.Data)
	case Out:
		h.Data = raw(h.Data)
		j.frame(h)
	case Chunk:
		j.chunk(h)
	case Step:
		if h.Name == "ToolOutput" {
			j.grow(h, string(h.Data), 0, "step "+strconv.Itoa(h.Of)+" ")
		}
	case Ended, Returned:
		of := strconv.Itoa(h.Of)
		j.close("chunk "+of+" ", "step "+of+" ")
	}
	j.waiting = append(j.waiting, h)
}

// frame notes the growing texts of a line that was sent. Another line of the session ends the growing texts
// before it.
func (j *joiner) frame(h *held) {
	if len(h.Data) == 0 || h.Data[0] != '{' {
		return
	}
	var method, session, update, call string
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
		}
	})
	of := "out " + session + " "
	switch {
	case method != "session/update":
		if method == "" {
			j.close("out ")
		}
	case strings.HasSuffix(update, "_chunk"):
		j.grow(h, text, 0, of+update+" ")
	case update == "tool_call_update" && strings.Contains(text, `"terminal_output`):
		j.grow(h, text, 0, of+call+" ")
	default:
		j.close(of)
	}
}

// chunk notes the growing texts of a piece of a model's answer: a JSON value, or lines of an
// event stream as one string.
func (j *joiner) chunk(h *held) {
	prefix := "chunk " + strconv.Itoa(h.Of) + " "
	if !h.lines && (len(h.Data) == 0 || h.Data[0] != '"' || json.Unmarshal(h.Data, &h.text) != nil) {
		j.grow(h, string(h.Data), 0, prefix+h.Key+" ")
		return
	}
	h.lines = true
	at := 0
	for line := range strings.Lines(h.text) {
		if from := strings.IndexByte(line, '{'); from >= 0 {
			j.grow(h, line[from:], at+from, prefix)
		}
		at += len(line)
	}
}

// grow notes the growing texts of a JSON text at offset at.
func (j *joiner) grow(h *held, text string, at int, prefix string) {
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
		g := j.grown()
		*g = grown{start: at + l.start, end: at + l.end, text: value}
		h.texts = append(h.texts, g)
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

// grown returns room for one.
func (j *joiner) grown() *grown {
	const many = 128
	if len(j.spare) == 0 {
		j.spare = make([]grown, many)
	}
	g := &j.spare[0]
	j.spare = j.spare[1:]
	return g
}

func (s *stream) text() string {
	if len(s.open) == 1 {
		return s.open[0].text
	}
	var b strings.Builder
	for _, g := range s.open {
		b.WriteString(g.text)
	}
	return b.String()
}

// release makes the first n bytes of a stream with a text final. If they have a secret, the first piece gets
// all of the cleaned text.
func (j *joiner) release(s *stream, text string, n int, now time.Time) {
	if n == 0 {
		return
	}
	cleaned := j.clean(text[:n])
	same := cleaned == text[:n]
	left := n
	for i, g := range s.open {
		size := len(g.text)
		if !same {
			rest := ""
			if size > left {
				rest = g.text[left:]
			}
			g.text, g.changed = rest, true
			if i == 0 {
				g.text = cleaned + rest
			}
		}
		if size > left {
			s.open = s.open[i:]
			s.since = now
			return
		}
		g.final = true
		left -= size
	}
	s.open = nil
}

// close makes the streams with a prefix final, because nothing follows in them.
func (j *joiner) close(prefixes ...string) {
	for name, s := range j.streams {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				text := s.text()
				j.release(s, text, len(text), s.since)
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
		j.release(s, text, safeLength(text), now)
		s.grew = false
	}
	j.grew = j.grew[:0]
	for name, s := range j.streams {
		if !all && now.Sub(s.since) < longestHold {
			continue
		}
		if text := s.text(); all || len(text) > 0 && !j.begins(text) {
			j.release(s, text, len(text), now)
			delete(j.streams, name)
		}
	}
	for len(j.waiting) > 0 && j.waiting[0].ready() {
		j.append(j.waiting[0])
		j.waiting[0] = nil
		j.waiting = j.waiting[1:]
		if len(j.lines) >= mostBuffered {
			err = errors.Join(err, j.writeLines())
		}
	}
	return errors.Join(err, j.writeLines())
}

// mostBuffered is how much is written at once, in bytes.
const mostBuffered = 256 << 10

func (j *joiner) writeLines() (err error) {
	if len(j.lines) > 0 {
		err = j.write(j.lines)
	}
	if cap(j.lines) > 2*mostBuffered {
		j.lines = nil
	}
	j.lines = j.lines[:0]
	return err
}

func (h *held) ready() bool {
	for _, g := range h.texts {
		if !g.final {
			return false
		}
	}
	return true
}

// waits receives when flush has to be called although no entry came; nil means never.
func (j *joiner) waits() <-chan time.Time {
	if len(j.waiting) == 0 {
		return nil
	}
	return time.After(longestHold / 4)
}

// append appends the line of an entry, without secrets, to lines.
func (j *joiner) append(h *held) {
	text, changed := h.joined()
	switch {
	case h.lines:
		h.Data = appendString(nil, j.eventLines(text))
		j.lines = j.appendNamed(j.lines, h.Entry)
		return
	case h.cleaned:
		j.lines = j.appendNamed(j.lines, h.Entry)
		return
	case changed:
		h.Data = []byte(text)
	case bytes.IndexByte(h.Data, '\n') >= 0:
		h.Data = compact(h.Data)
	}
	from := len(j.lines)
	j.lines = h.appendTo(j.lines)
	if !j.holdsNone(string(j.lines[from:])) {
		h.Data = redact.JSON(h.Data, j.clean)
		j.lines = j.appendNamed(j.lines[:from], h.Entry)
	}
}

// joined is the text with what has become of its growing texts, and whether that differs.
func (h *held) joined() (text string, changed bool) {
	for _, g := range h.texts {
		changed = changed || g.changed
	}
	if !changed {
		return h.text, false
	}
	var out []byte
	at := 0
	for _, g := range h.texts {
		out = appendString(append(out, h.text[at:g.start]...), g.text)
		at = g.end
	}
	return string(append(out, h.text[at:]...)), true
}

// safeLength returns how much of a growing text can be cleaned before the rest arrives: all but a few words
// at its end, and nothing of a private key that has not ended.
func safeLength(text string) int {
	end := len(text)
	for range heldWords {
		i := strings.LastIndexAny(text[:end], " \t\n")
		if i < 0 {
			end = 0
			break
		}
		end = i
	}
	if begin := strings.LastIndex(text, "-----BEGIN"); begin >= 0 && begin > strings.LastIndex(text, "-----END") {
		end = min(end, begin)
	}
	if len(text)-end > heldBytes {
		end = len(text) - heldBytes/2
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return end
}
