// Package provider brings in the tools of external providers: programs and addresses
// that the user configured, which list their tools and execute them (R94).
//
//	service := provider.New(configs, provider.Options{Start: start, Version: version})
//	defer service.Close()
//	service.Begin()
//	list, generation := service.Tools()
//
// # The protocol
//
// JSON-RPC 2.0: one message a line over the standard streams of a program, or one POST
// for each request to an address.
//
//	initialize     {"protocolVersion": "1.0", "clientInfo": {"name": …, "version": …}}
//	tools/list     {}                                -> {"tools": [{"name", "description", "inputSchema"}]}
//	tools/execute  {"name": …, "arguments": {…}}     -> {"result": …}
//
// A result may have one of the shapes of package bridge, which is taken for what it
// says. A program sends the notification tools/changed when its list has changed;
// an address is asked again before each turn.
//
// It is not MCP: another version, another name for the call, and no content
// blocks. Servers that speak MCP belong into mcp.servers.
//
// # What goes wrong
//
// A provider fails by itself, and the others go on. Its program is started again when a
// tool of it is called, up to three times without a call that succeeds between. What it
// says of its tools is held to the rules of every tool; one that breaks them is left out.
//
// It imports tools, tools/bridge, tools/stream, kinds, capability and the JSON schema
// library. It does not know how programs are started or confined: that is Options.Start.
//
// # Requirements
//
// R94, R104 (output of providers).
package provider
