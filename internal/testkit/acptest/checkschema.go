package acptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/testkit/schematest"
)

// openSchema returns the official schema, nil where it is not installed. Reading it takes
// longer than most runs, so that all share one.
var openSchema = sync.OnceValues(func() (*schematest.Validator, error) {
	var tb noTest
	return schematest.Open(&tb), tb.err
})

// noTest lets schematest.Open be used outside of any one test. That there is no
// schema is an error only where nothing may be missing.
type noTest struct {
	testing.TB
	err error
}

func (*noTest) Helper()     {}
func (*noTest) Skip(...any) {}

func (n *noTest) Fatalf(format string, args ...any) { n.err = fmt.Errorf(format, args...) }

// checkSchema judges every line of the agent.
func checkSchema(run string, lines []Line) []string {
	v, err := openSchema()
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
		if err != nil && refusesUnknown(l.Message) {
			err = v.Definition("Error", encode(l.Message.Error))
		}
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// refusesUnknown reports whether a line refuses a request that has no place in the
// schema, so that the schema has no definition for the answer.
func refusesUnknown(m *Message) bool {
	return m.IsResponse() && m.Error != nil && (m.Error.Code == -32601 || m.Error.Code == -32600)
}

// renumber gives a message an id that no other run has, since the shared schema
// pairs the answers of all runs with their requests by the ids.
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
