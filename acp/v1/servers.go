package v1

import (
	"acp-agent/acp/schema"
	"acp-agent/mcp"
)

// fromEditor is the origin of the servers that the client configures.
const fromEditor = "the editor"

// serversOf are the MCP servers in the params of session/new, without servers of an unknown
// kind (R88).
func serversOf(listed []schema.McpServer) []mcp.Server {
	var servers []mcp.Server
	for _, server := range listed {
		switch server := server.(type) {
		case schema.McpServerStdio:
			s := mcp.Server{Name: server.Name, Origin: fromEditor, Command: server.Command, Args: server.Args}
			for _, variable := range server.Env {
				s.Env = append(s.Env, variable.Name+"="+variable.Value)
			}
			servers = append(servers, s)
		case schema.McpServerHttp:
			servers = append(servers, mcp.Server{Name: server.Name, Origin: fromEditor, URL: server.URL, Header: headersOf(server.Headers)})
		case schema.McpServerSse:
			servers = append(servers, mcp.Server{Name: server.Name, Origin: fromEditor, URL: server.URL, Header: headersOf(server.Headers), SSE: true})
		}
	}
	return servers
}

func headersOf(listed []schema.HttpHeader) map[string]string {
	headers := map[string]string{}
	for _, header := range listed {
		headers[header.Name] = header.Value
	}
	return headers
}
