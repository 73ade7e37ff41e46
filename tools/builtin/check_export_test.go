package builtin

import "acp-agent/tools"

// NewCheck and NewFormatFile make tools with a configuration of the test's own.
func NewCheck(checks ...Check) tools.Tool { return newCheck(checks) }

// NewFormatFile is exported for its tests.
func NewFormatFile(formatters map[string][]string) tools.Tool { return newFormatFile(formatters) }

// NewLSP is exported for its tests.
func NewLSP() tools.Tool { return newLSP() }
