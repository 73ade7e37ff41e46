package builtin

import "acp-agent/tools"

// WebExtract is exported for the test of its limit.
const WebExtract = webExtract

// NewWebFetch makes the tool without the others.
func NewWebFetch() tools.Tool { return newWebFetch() }
