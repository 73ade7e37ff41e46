package app

import (
	"slices"

	"acp-agent/internal/redact"
	"acp-agent/mcp"
)

// redactSecrets keeps secrets that became known while the agent runs out of the log and of what
// tools show.
func (c *core) redactSecrets(secrets ...string) {
	c.logger.redactValues(secrets...)
	c.redactKeys(secrets...)
}

// redactKeys keeps keys from the model and from results. A text that may be an ordinary word is
// passed over.
func (c *core) redactKeys(keys ...string) {
	c.keys.Add(slices.DeleteFunc(keys, func(key string) bool { return !redact.Distinct(key) })...)
}

// redactServerKeys keeps the keys of MCP servers, both the user's and the project's, out of the log,
// from the model and from results.
func (c *core) redactServerKeys(lists ...[]mcp.Server) {
	for _, server := range slices.Concat(lists...) {
		keys := server.Keys()
		c.logger.redactValues(keys...)
		c.keys.Add(keys...)
	}
}

// clean takes every secret out of a text that is stored or recorded: those of the log, those of tools, and
// whatever has the shape of one. Nearly all texts have none, and are searched for shapes once.
func (c *core) clean(text string) string {
	logged := c.logger.values.Text(text)
	if known := c.keys.Known(logged); known != logged || logged != text {
		return redact.Text(known)
	}
	return text
}
