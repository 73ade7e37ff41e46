package acptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/testkit/schematest"
)

// judge is the official schema, nil where it is not installed. Reading it takes
// longer than most runs, so that all share one.
var judge = sync.OnceValues(func() (*schematest.Validator, error) {
	var tb mute
	return schematest.Open(&tb), tb.err
})

// mute lets schematest.Open be used outside of any one test. That there is no
// schema is an error only where nothing may be missing.
type mute struct {
	testing.TB
	err error
}

func (*mute) Helper()     {}
func (*mute) Skip(...any) {}

func (m *mute) Fatalf(format string, args ...any) { m.err = fmt.Errorf(format, args...) }

// checkSchema judges every line of the agent.
func checkSchema(run string, lines []Line) []string {
	v, err := judge()
	if err != nil {
		return []string{err.Error()}
	}
	if v == nil {
		return nil
	}
	var problems []string
	for _, l := range lines {
		if l.Message == nil {
			continue
		}
		line := []byte(l.Raw)
		if l.Message.ID != nil && string(l.Message.ID) != "null" {
			if line, err = renumber(line, run+string(l.Message.ID)); err != nil {
				problems = append(problems, fmt.Sprintf("%v: %.400s", err, l.Raw))
				continue
			}
		}
		if !l.FromAgent {
			v.Observe(schematest.ToAgent, line)
			continue
		}
		err := v.Message(schematest.ToClient, line)
		if err != nil && foreign(l.Message) {
			err = v.Definition("Error", encode(l.Message.Error))
		}
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// foreign reports whether a line refuses a request that has no place in the
// schema, of which the judge knows nothing.
func foreign(m *Message) bool {
	return m.IsResponse() && m.Error != nil && (m.Error.Code == -32601 || m.Error.Code == -32600)
}

// renumber gives a message an id that no other run has, since the judge knows
// the requests of all of them by their ids.
func renumber(line []byte, id string) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, err
	}
	members["id"] = encode(strings.Map(printable, id))
	return json.Marshal(members)
}

func printable(r rune) rune {
	if r < ' ' || r == '"' {
		return '_'
	}
	return r
}
