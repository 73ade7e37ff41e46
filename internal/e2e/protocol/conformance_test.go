package protocol

import (
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
)

// conformance is what the official compatibility kit (acp-tck) demands of an agent with our
// capabilities, by the kit's ids. The package registries have no kit under the names that were tried, so these are its rules
// in our words, each in a process of its own and of a client that offers nothing, as there.
//
// acptest judges every run by the rules that hold for each line: ACP-TRANSPORT-001 and -002,
// ACP-JSONRPC-002 and -003, ACP-SCHEMA-001, ACP-PROMPT-002, ACP-CONFIG-003,
// ACP-CLIENTCAP-001 to -003, ACP-SHUTDOWN-001. Left out are ACP-LOAD, -RESUME, -LIST and
// -DELETE and ACP-PROMPTCAP-002 (audio), which we do not offer, and the kit's informational
// ids.
var conformance = map[string]func(t *testing.T, agent *acptest.Agent){
	"ACP-JSONRPC-001 ids of both kinds are echoed": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		for _, id := range []string{`0`, `-7`, `9007199254740993`, `"text"`, `""`} {
			agent.Write(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
			agent.Expect("the answer with the id "+id, func(m *acptest.Message) bool { return m.IsResponse() && string(m.ID) == id })
		}
	},
	"ACP-JSONRPC-004 an unknown method is -32601": func(_ *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		agent.Request("session/none", "{}").Fails(-32601, "")
	},
	"ACP-JSONRPC-005 a request that failed leaves the connection usable": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		agent.Request("session/new", `{"cwd":7}`).Fails(-32602, "")
		agent.NewSession(t.TempDir())
	},
	"ACP-INIT-001 ACP-INIT-002 version 1 is answered with 1": func(t *testing.T, agent *acptest.Agent) {
		if version := agent.Initialize("").Get("result.protocolVersion"); fmt.Sprint(version) != "1" {
			t.Errorf("the version is %v", version)
		}
	},
	"ACP-INIT-003 a version of the future is answered with ours": func(t *testing.T, agent *acptest.Agent) {
		answer := agent.Request("initialize", `{"protocolVersion":65535,"clientCapabilities":{},"info":{"name":"n","version":"1"}}`).Result()
		if version := answer.Get("result.protocolVersion"); fmt.Sprint(version) != "1" {
			t.Errorf("the version is %v", version)
		}
	},
	"ACP-INIT-004 ACP-AUTH-001 ACP-AUTH-002 the agent names itself, and offers no terminal to sign in": func(t *testing.T, agent *acptest.Agent) {
		answer := agent.Initialize("")
		if answer.Get("result.agentInfo.name") == nil || answer.Get("result.agentInfo.version") == nil {
			t.Errorf("agentInfo is %v", answer.Get("result.agentInfo"))
		}
		ids := map[any]bool{}
		methods, _ := answer.Get("result.authMethods").([]any)
		for i := range methods {
			id, kind := answer.Get(fmt.Sprintf("result.authMethods.%d.id", i)), answer.Get(fmt.Sprintf("result.authMethods.%d.type", i))
			if ids[id] || kind == "terminal" {
				t.Errorf("method %v of type %v", id, kind)
			}
			ids[id] = true
		}
		if len(ids) == 0 {
			t.Error("there is no method")
		}
	},
	"ACP-AUTH-004 logout is answered": func(_ *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		agent.Request("logout", "{}").Result()
	},
	"ACP-SESSION-001 ACP-SESSION-002 each session has its id": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		dir := t.TempDir()
		if one, two := agent.NewSession(dir).ID, agent.NewSession(dir).ID; one == "" || one == two {
			t.Errorf("ids %q and %q", one, two)
		}
	},
	"ACP-PROMPT-001 ACP-META-001 text is answered, with metadata too": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		session := agent.NewSession(t.TempDir())
		session.Prompt("hello").Ends("end_turn")
		agent.Request("session/prompt", `{"sessionId":"`+session.ID+`","prompt":[{"type":"text","text":"hello"}],"_meta":{"traceparent":"00-1-1-00"}}`).Result()
	},
	"ACP-PROMPT-003 ACP-PROMPTCAP-001 ACP-PROMPTCAP-003 links, images and resources are taken": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		session := agent.NewSession(t.TempDir())
		const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
		for _, block := range []any{
			map[string]any{"type": "resource_link", "name": "a", "uri": "file:///a.txt"},
			map[string]any{"type": "image", "mimeType": "image/png", "data": pixel},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///a.txt", "text": "a"}},
		} {
			session.PromptBlocks(map[string]any{"type": "text", "text": "hello"}, block).Ends("end_turn")
		}
	},
	"ACP-CANCEL-001 ACP-CANCEL-002 a cancel ends the turn, and nothing comes after it": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		session := agent.NewSession(t.TempDir())
		turn := session.Prompt("wait")
		session.Expect("an update", acptest.Update("agent_message_chunk"))
		session.Cancel()
		turn.Ends("cancelled") // TestInterop_Quiet listens for 2 s
	},
	"ACP-CLOSE-001 ACP-CLOSE-002 a session is closed, and its turn with it": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		agent.NewSession(t.TempDir()).CloseSession()
		session := agent.NewSession(t.TempDir())
		turn := session.Prompt("wait")
		session.Expect("an update", acptest.Update("agent_message_chunk"))
		session.CloseSession()
		turn.Ends("cancelled")
	},
	"ACP-ADDDIRS-001 more directories are taken": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		agent.OpenSession(map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}, "additionalDirectories": []any{t.TempDir()}})
	},
	"ACP-MODES-001 ACP-MODES-002 another mode can be set": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		session := agent.NewSession(t.TempDir())
		if mode := session.Opened.Get("result.modes.currentModeId"); mode != "ask" {
			t.Errorf("the mode is %v", mode)
		}
		agent.Request("session/set_mode", map[string]any{"sessionId": session.ID, "modeId": "code"}).Result()
	},
	"ACP-CONFIG-001 ACP-CONFIG-002 setting an option is answered with all": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		session := agent.NewSession(t.TempDir())
		answer := agent.Request("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "mode", "value": "code"}).Result()
		before, _ := session.Opened.Get("result.configOptions").([]any)
		after, _ := answer.Get("result.configOptions").([]any)
		if len(before) == 0 || len(before) != len(after) || answer.Get("result.configOptions.0.currentValue") != "code" {
			t.Errorf("%v options, then %v", before, after)
		}
	},
	"ACP-EXT-001 an unknown method of an extension is answered": func(_ *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		agent.Request("_example.org/none", "{}").Wait()
	},
	"ACP-ERROR-001 an error is one sentence": func(t *testing.T, agent *acptest.Agent) {
		agent.Initialize("")
		for _, request := range []*acptest.Pending{
			agent.Request("session/none", "{}"), agent.Request("session/new", `{"cwd":"a\nb"}`),
			agent.Request("session/prompt", `{"sessionId":"none","prompt":[]}`),
		} {
			if failed := request.Wait(); failed.Error == nil || failed.Error.Message == "" || strings.Contains(failed.Error.Message, "\n") {
				t.Errorf("%s failed with %+v", request.Method, failed.Error)
			}
		}
	},
}

// TestConformance runs the rules of the compatibility kit.
func TestConformance(t *testing.T) {
	for name, run := range conformance {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, acptest.Start(t, acptest.Options{
				Model: `{"when": "wait", "say": "Begun", "wait": "for the cancel"}` + "\n" + `{"when": "hello", "say": "Here.", "repeat": -1}`,
			}))
		})
	}
}
