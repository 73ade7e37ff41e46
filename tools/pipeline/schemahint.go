package pipeline

import (
	"unicode/utf8"

	"acp-agent/tools"
)

// maxSchemaHint bounds the schema in the error about arguments that do not fit, in bytes.
const maxSchemaHint = 16 << 10

// withSchema adds the schema to the failure of a call whose arguments do not fit a tool that
// the requests do not describe as it is, so that the next call can be right (R87).
func (p *Pipeline) withSchema(c *Prepared, failure *tools.Error) *tools.Error {
	if c.entry == nil || failure.Kind != tools.BadInput || p.lacking(c.entry) != "" || p.catalogue.shows(c.entry) {
		return failure
	}
	schema := string(c.entry.Schema())
	if len(schema) > maxSchemaHint || !utf8.ValidString(schema) {
		return failure
	}
	hinted := *failure
	if hinted.Hint != "" {
		hinted.Hint += "\n"
	}
	hinted.Hint += "the arguments of " + c.Tool + ", as a JSON Schema: " + schema
	return &hinted
}
