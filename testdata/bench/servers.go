package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The MCP servers of a session: half are named by the editor, half by the configuration,
// and of each half one is dead.
const (
	servers      = 10
	serverPairs  = 41
	serverScript = `while IFS= read -r line; do
  id=
  [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}\n' "$id" ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
  esac
done
`
)

// serverCommand is the program of the n-th server: one crashes, one hangs.
func serverCommand(n int) string {
	switch n {
	case 0:
		return "exit 1"
	case servers / 2:
		return "exec sleep 600"
	}
	return serverScript
}

// withServers measures session/new with ten MCP servers beside one with none, in turns,
// each with an agent of its own. Both read the same configuration, as each session does;
// in the one its servers are turned off.
func (r *run) withServers() error {
	configured, disabled, offered := map[string]any{}, map[string]any{}, []any{}
	for n := range servers {
		name, command := fmt.Sprint("server", n), serverCommand(n)
		if n < servers/2 {
			configured[name] = map[string]any{"command": []string{"bash", "-c", command}}
			disabled[name] = map[string]any{"command": []string{"bash", "-c", command}, "enabled": false}
		} else {
			offered = append(offered, map[string]any{"name": name, "command": "bash", "args": []string{"-c", command}, "env": []any{}})
		}
	}
	config, err := json.Marshal(map[string]any{"mcp": map[string]any{"servers": configured}})
	if err != nil {
		return err
	}
	off, err := json.Marshal(map[string]any{"mcp": map[string]any{"servers": disabled}})
	if err != nil {
		return err
	}
	without, err := r.fresh("servers without", map[string]string{"config/acp-agent/config.jsonc": string(off)})
	if err != nil {
		return err
	}
	defer without.stop()
	with, err := r.fresh("servers with", map[string]string{"config/acp-agent/config.jsonc": string(config)})
	if err != nil {
		return err
	}
	defer with.stop()
	var none, ten, ratio []float64
	for i := range serverPairs {
		one, err := without.opening([]any{}, false)
		if err != nil {
			return err
		}
		other, err := with.opening(offered, i == 0)
		if err != nil {
			return err
		}
		if i > 0 { // the first ones warm up
			none, ten = append(none, milliseconds(one)), append(ten, milliseconds(other))
			ratio = append(ratio, milliseconds(other)/milliseconds(one))
		}
	}
	r.results.add("session/new without servers", with.name, median(none))
	r.results.add("session/new with 10 servers", with.name, median(ten))
	r.results.add("session/new with 10 servers, over none", with.name, median(ratio))
	return nil
}

// opening opens a session with servers, and closes it. With check it fails unless all
// but the dead ones come.
func (s *subject) opening(servers []any, check bool) (time.Duration, error) {
	var opened struct{ SessionID string }
	took, err := s.call("session/new", map[string]any{"cwd": s.project(""), "mcpServers": servers}, &opened)
	if err != nil {
		return 0, err
	}
	if check {
		if err := s.reached(opened.SessionID); err != nil {
			return 0, err
		}
	}
	_, err = s.call("session/close", map[string]any{"sessionId": opened.SessionID}, nil)
	return took, err
}

// reached waits until /mcp says that all servers but the two dead ones are ready.
func (s *subject) reached(session string) error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var said strings.Builder
		err := s.watching(func(line []byte, _ time.Time) { said.Write(line) }, func() error {
			_, err := s.prompt(session, "/mcp")
			return err
		})
		if err != nil || strings.Count(said.String(), ": ready") == servers-2 {
			return err
		}
	}
	return fmt.Errorf("the servers were not reached")
}
