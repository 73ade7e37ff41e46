package mcp

// Person is x.
type Person interface{}
