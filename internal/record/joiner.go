package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/internal/redact"
)

const (
	// longestHold is how long an entry waits for the rest of a word that may be a secret's
	// beginning: what a process that is killed loses at most.
	longestHold = time.Second
	// heldWords and heldBytes are how much of the end of a growing text is not settled.
	heldWords = 4
	heldBytes = 4 << 10
)

// joiner cleans entries and writes them in order. A text that arrives in pieces is cleaned as
// a whole: an entry waits until the words that it has a part of are complete.
type joiner struct {
	clean   func(string) string
	begins  func(string) bool
	write   func(Entry) error
	waiting []*held
	streams map[string]*stream
}

// grown is a growing text in the data of an entry.
type grown struct {
	start, end int // its literal
	text       string
	settled    bool
}

// held is an entry that waits, with the growing texts in it.
type held struct {
	Entry
	since time.Time
	texts []*grown
	// quoted says that the data is a string of lines, each with a JSON text in it.
	quoted bool
	whole  []byte // what the positions of texts are in
}

// stream is what is not settled of a growing text.
type stream struct {
	open  []*grown
	since time.Time
}

func newJoiner(o Options, write func(Entry) error) *joiner {
	return &joiner{clean: o.Clean, begins: o.Begins, write: write, streams: map[string]*stream{}}
}

// add takes the next entry.
func (j *joiner) add(p pending) error {
	e := p.Entry
	if p.finish != nil {
		p.finish(&e)
	}
	h := &held{Entry: e, since: time.Now()}
	switch e.Kind {
	case In:
		h.Data = raw(e.Data)
	case Out:
		h.Data = raw(e.Data)
		j.frame(h)
	case Chunk:
		j.chunk(h)
	case Step:
		if e.Name == "ToolOutput" {
			j.grow(h, h.Data, 0, fmt.Sprintf("step %d ", e.Of))
		}
	case Ended, Returned:
		j.close(fmt.Sprintf("chunk %d ", e.Of), fmt.Sprintf("step %d ", e.Of))
	}
	j.waiting = append(j.waiting, h)
	return nil
}

// frame notes the growing texts of a line that was sent. Any other line of the session ends
// those before it.
func (j *joiner) frame(h *held) {
	var line struct {
		Method string `json:"method"`
		Params struct {
			SessionID string `json:"sessionId"`
			Update    struct {
				Kind   string `json:"sessionUpdate"`
				CallID string `json:"toolCallId"`
			} `json:"update"`
		} `json:"params"`
	}
	if json.Unmarshal(h.Data, &line) != nil {
		return
	}
	session, update := "out "+line.Params.SessionID+" ", line.Params.Update
	switch {
	case line.Method != "session/update":
		if line.Method == "" {
			j.close("out ")
		}
	case strings.HasSuffix(update.Kind, "_chunk"):
		j.grow(h, h.Data, 0, session+update.Kind+" ")
	case update.Kind == "tool_call_update" && bytes.Contains(h.Data, []byte(`"terminal_output`)):
		j.grow(h, h.Data, 0, session+update.CallID+" ")
	default:
		j.close(session)
	}
}

// chunk notes the growing texts of a piece of a model's answer: a JSON value, or lines of an
// event stream as one string.
func (j *joiner) chunk(h *held) {
	prefix := fmt.Sprintf("chunk %d ", h.Of)
	var text string
	if json.Unmarshal(h.Data, &text) != nil {
		j.grow(h, h.Data, 0, prefix+h.Key+" ")
		return
	}
	h.quoted, h.whole = true, []byte(text)
	at := 0
	for line := range strings.Lines(text) {
		if from := strings.IndexByte(line, '{'); from >= 0 {
			j.grow(h, []byte(line[from:]), at+from, prefix)
		}
		at += len(line)
	}
}

// grow notes the growing texts of a JSON text that stands at an offset.
func (j *joiner) grow(h *held, text []byte, at int, prefix string) {
	if h.whole == nil {
		h.whole = h.Data
	}
	for _, l := range leaves(text) {
		g := &grown{start: at + l.start, end: at + l.end, text: l.text}
		if l.text == "" {
			continue
		}
		h.texts = append(h.texts, g)
		name := prefix + l.path
		s := j.streams[name]
		if s == nil {
			s = &stream{since: h.since}
			j.streams[name] = s
		}
		s.open = append(s.open, g)
		j.release(s, settled(s.text()))
	}
}

func (s *stream) text() string {
	var b strings.Builder
	for _, g := range s.open {
		b.WriteString(g.text)
	}
	return b.String()
}

// release settles the first n bytes of a stream. Where they hold a secret, the first piece gets
// all of the cleaned text.
func (j *joiner) release(s *stream, n int) {
	if n == 0 {
		return
	}
	text := s.text()[:n]
	cleaned := j.clean(text)
	same := cleaned == text
	left := n
	for i, g := range s.open {
		size := len(g.text)
		if !same {
			rest := ""
			if size > left {
				rest = g.text[left:]
			}
			g.text = rest
			if i == 0 {
				g.text = cleaned + rest
			}
		}
		if size > left {
			s.open = s.open[i:]
			s.since = time.Now()
			return
		}
		g.settled = true
		left -= size
	}
	s.open = nil
}

// close settles the streams whose names begin so, for nothing follows in them.
func (j *joiner) close(prefixes ...string) {
	for name, s := range j.streams {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				j.release(s, len(s.text()))
				delete(j.streams, name)
				break
			}
		}
	}
}

// settle writes the entries that wait for nothing; all says that nothing follows.
func (j *joiner) settle(all bool) (err error) {
	for name, s := range j.streams {
		text := s.text()
		if all || len(text) > 0 && time.Since(s.since) >= longestHold && !j.begins(text) {
			j.release(s, len(text))
			delete(j.streams, name)
		}
	}
	for len(j.waiting) > 0 && j.waiting[0].ready() {
		err = errors.Join(err, j.write(j.finished(j.waiting[0])))
		j.waiting = j.waiting[1:]
	}
	return err
}

func (h *held) ready() bool {
	for _, g := range h.texts {
		if !g.settled {
			return false
		}
	}
	return true
}

// waits is when settle is to be called though nothing came; nil means never.
func (j *joiner) waits() <-chan time.Time {
	if len(j.waiting) == 0 {
		return nil
	}
	return time.After(longestHold / 4)
}

// finished is the entry without secrets.
func (j *joiner) finished(h *held) Entry {
	e := h.Entry
	if len(h.texts) > 0 {
		var out []byte
		at := 0
		for _, g := range h.texts {
			literal, _ := encode(g.text) // a string always encodes
			out = append(append(out, h.whole[at:g.start]...), literal...)
			at = g.end
		}
		out = append(out, h.whole[at:]...)
		if h.quoted {
			out, _ = encode(string(out))
		}
		e.Data = out
	}
	if h.quoted {
		e.Data = j.lines(e.Data)
	} else {
		e.Data = redact.JSON(e.Data, j.clean)
	}
	e.Error, e.Key, e.Name = j.clean(e.Error), j.clean(e.Key), j.clean(e.Name)
	return e
}

// lines cleans the lines of an event stream, in which JSON stands.
func (j *joiner) lines(data []byte) []byte {
	var text string
	if json.Unmarshal(data, &text) != nil {
		return data
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if from := strings.IndexByte(line, '{'); from >= 0 && json.Valid([]byte(line[from:])) {
			b.WriteString(j.clean(line[:from]))
			b.Write(redact.JSON([]byte(line[from:]), j.clean))
			continue
		}
		b.WriteString(j.clean(line))
	}
	quoted, _ := encode(b.String())
	return quoted
}

// settled returns how much of a growing text is settled: all but a few words at its end, and nothing
// of a private key that has not ended.
func settled(text string) int {
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
