package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"acp-agent/internal/jsonscan"
	"acp-agent/internal/redact"
)

// format and version are what the first line of a recording says.
const (
	format  = "acp-agent recording"
	version = 1
)

// maxLine bounds a line of a recording: a line of the wire has 32 MiB at most.
const maxLine = 256 << 20

// Header is the first line of a recording: what was recorded.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Agent is the version of the agent, Protocol that of ACP, OS the system and processor.
	Agent    string    `json:"agent"`
	Protocol int       `json:"protocol"`
	OS       string    `json:"os"`
	Started  time.Time `json:"started"`
	// Home and State are the directories of the user and of the agent's sessions. Recorded texts name
	// them, so a replay uses the same names.
	Home  string `json:"home"`
	State string `json:"state"`
	// Config is the directory of configurations, Login the file of the login. A replay reads the
	// recorded configuration under these names.
	Config string `json:"config"`
	Login  string `json:"login"`
}

// Kind says what an entry is.
type Kind string

// The kinds of entries.
const (
	// In and Out are lines of the wire. InEnd is the end of the input, Closed the orderly end
	// of the process.
	In     Kind = "in"
	Out    Kind = "out"
	InEnd  Kind = "in_end"
	Closed Kind = "closed"
	// ID is an id that was made, and Answered the answer to a question.
	ID       Kind = "id"
	Answered Kind = "answer"
	// Requested starts an exchange with a model server, Replied is the head of its answer,
	// Chunk a piece of it, and Ended its end.
	Requested Kind = "request"
	Replied   Kind = "reply"
	Chunk     Kind = "chunk"
	Ended     Kind = "end"
	// Called starts a Call, Step is one of its steps, and Returned its end.
	Called   Kind = "call"
	Step     Kind = "step"
	Returned Kind = "return"
	// Happened is an event from outside that answers no question.
	Happened Kind = "event"
	// Looked is what the agent saw when it looked at something that changes meanwhile.
	Looked Kind = "look"
)

// unordered reports whether entries of a kind have no place in the order of a replay: the agent asks for them.
func (k Kind) unordered() bool {
	switch k {
	case ID, Answered, Called, Returned, Closed:
		return true
	}
	return false
}

// Entry is a line of a recording.
type Entry struct {
	// MS is its time, in milliseconds since the start.
	MS   int64 `json:"ms"`
	Kind Kind  `json:"kind"`
	// Of is the number of the exchange or call that it belongs to.
	Of int `json:"of,omitempty"`
	// Name and Key say what it is about, Data is its content.
	Name  string          `json:"name,omitempty"`
	Key   string          `json:"key,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error string          `json:"error,omitempty"`
	// Waited says that other entries came between a question and this answer to it. A replay gives the
	// answer at its place.
	Waited bool `json:"waited,omitempty"`
}

// Recording is a recording that was read.
type Recording struct {
	Header
	Entries []Entry
	// Torn says that the last line is incomplete, because the process was killed.
	Torn bool
}

// Masked counts the entries in which a key was taken out.
func (r *Recording) Masked() (n int) {
	for _, e := range r.Entries {
		if bytes.Contains(e.Data, []byte(redact.Mask)) {
			n++
		}
	}
	return n
}

// LineError is a line of a recording that cannot be used.
type LineError struct {
	Line    int
	Problem string
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// Read reads a recording. A last line without an end is left out; any other line that is
// damaged is a *LineError.
func Read(from io.Reader) (*Recording, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	rec := &Recording{}
	for number := 1; ; number++ {
		line, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && number == 1 && len(line) == 0:
			return nil, &LineError{1, "the file is empty"}
		case errors.Is(err, io.EOF):
			rec.Torn = len(line) > 0
			if number == 1 {
				return nil, &LineError{1, "the file ends within its first line"}
			}
			return rec, nil
		case err != nil:
			return nil, &LineError{number, err.Error()}
		}
		if number == 1 {
			err = rec.readHeader(line)
		} else {
			err = rec.readEntry(line)
		}
		if err != nil {
			return nil, &LineError{number, err.Error()}
		}
	}
}

var errLongLine = errors.New("it is too long for a line of a recording")

// readLine returns a line without its newline; what is left at the end comes with io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			return nil, errLongLine
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

func (r *Recording) readHeader(line []byte) error {
	if json.Unmarshal(line, &r.Header) != nil || r.Format != format {
		return errors.New("this is not a recording of acp-agent")
	}
	if r.Version != version {
		return fmt.Errorf("the recording has version %d of the format, and this acp-agent reads version %d", r.Version, version)
	}
	return nil
}

func (r *Recording) readEntry(line []byte) error {
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("the line is damaged: %w", err)
	}
	if err := e.check(); err != nil {
		return err
	}
	r.Entries = append(r.Entries, e)
	return nil
}

// check returns an error for an entry that could not be replayed.
func (e *Entry) check() error {
	switch e.Kind {
	case In, Out, Chunk, Happened, Step, Looked:
		if e.Data == nil {
			return fmt.Errorf("an entry of kind %q without data", e.Kind)
		}
	case InEnd, Closed, ID, Answered, Requested, Replied, Ended, Called, Returned:
	default:
		return fmt.Errorf("an entry of the unknown kind %q", e.Kind)
	}
	if e.MS < 0 || e.Of < 0 {
		return errors.New("a number of the entry is negative")
	}
	return nil
}

// appendTo appends the line of an entry, whose data is JSON on one line.
func (e *Entry) appendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"ms":`...), e.MS, 10)
	b = append(append(append(b, `,"kind":"`...), e.Kind...), '"')
	if e.Of != 0 {
		b = strconv.AppendInt(append(b, `,"of":`...), int64(e.Of), 10)
	}
	if e.Name != "" {
		b = appendString(append(b, `,"name":`...), e.Name)
	}
	if e.Key != "" {
		b = appendString(append(b, `,"key":`...), e.Key)
	}
	if len(e.Data) > 0 {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	if e.Error != "" {
		b = appendString(append(b, `,"error":`...), e.Error)
	}
	if e.Waited {
		b = append(b, `,"waited":true`...)
	}
	return append(b, "}\n"...)
}

func appendString(b []byte, text string) []byte { return jsonscan.AppendString(b, text) }

// encode is json.Marshal that leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
