//go:build unix

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/anthropictest"
)

// anthropicMessage is a message as the API has it.
type anthropicMessage struct {
	Role    string
	Content []map[string]any
}

// anthropicBody is what is compared of a request.
type anthropicBody struct {
	Messages []anthropicMessage
}

// anthropicReport is what the SDK saw; anthropic.mjs describes it.
type anthropicReport struct {
	Exchanges []struct {
		Request struct {
			Path string
			Body map[string]any
		}
		Message struct {
			anthropicMessage
			StopReason string `json:"stop_reason"`
		}
	}
	Errors []string
}

// TestInterop_Anthropic has the official SDK read a task of 30 calls with thinking: its types
// take each request of the agent, it sends the same body to the same path, and the message that it makes of each stream is what the agent sends back in the
// next request, signatures and all. The short form does without the types.
func TestInterop_Anthropic(t *testing.T) {
	t.Parallel()
	binary := needInterop(t)
	server := anthropictest.New(t, append(anthropictest.Task(), anthropictest.Step{Text: "And on."})...)
	agent := acptest.Start(t, acptest.Options{Program: binary, Env: agenttest.AnthropicEnv(t, server.URL, "claude-sonnet-4-5", "high")})
	agent.Initialize("")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there.txt"), []byte("here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := agent.NewSession(dir)
	session.Prompt("read it all").Ends("end_turn")
	session.PromptBlocks(map[string]any{"type": "text", "text": "look"}, map[string]any{"type": "image", "mimeType": "image/png", "data": "aGk="}).Ends("end_turn")
	for _, problem := range server.Broken() {
		t.Errorf("refused: %s", problem)
	}
	var exchanges []anthropictest.Exchange
	for _, x := range server.Exchanges() {
		if strings.Contains(string(x.Body), `"tools":[`) {
			exchanges = append(exchanges, x)
		}
	}
	report := readByAnthropic(t, exchanges)
	if len(exchanges) != 22 || len(report.Exchanges) != len(exchanges) || len(report.Errors) > 0 {
		t.Fatalf("%d of %d exchanges read; the types say: %s", len(report.Exchanges), len(exchanges), strings.Join(report.Errors, "\n"))
	}
	if !strings.Contains(string(exchanges[21].Body), `"media_type":"image/png"`) {
		t.Error("the picture is not in the last request")
	}
	for i, read := range report.Exchanges {
		var body map[string]any
		if err := json.Unmarshal(exchanges[i].Body, &body); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(read.Request.Body, body); diff != "" {
			t.Errorf("request %d (-SDK +agent):\n%s", i, diff)
		}
		if read.Request.Path != exchanges[i].Path {
			t.Errorf("request %d: the SDK asks %s", i, read.Request.Path)
		}
		if i+1 < len(exchanges) {
			sameAnswer(t, i, read.Message.Content, exchanges[i+1].Body)
		}
	}
}

// sameAnswer compares a message that the SDK made of a stream with the last one of the agent
// in its next request. The agent has ids of its own.
func sameAnswer(t *testing.T, i int, want []map[string]any, next []byte) {
	t.Helper()
	var body anthropicBody
	if err := json.Unmarshal(next, &body); err != nil {
		t.Fatal(err)
	}
	got := body.Messages[len(body.Messages)-2]
	if got.Role != "assistant" {
		t.Fatalf("request %d: the message before the last is the %s's", i+1, got.Role)
	}
	for _, blocks := range [][]map[string]any{want, got.Content} {
		for _, b := range blocks {
			if b["type"] == "tool_use" {
				delete(b, "id")
			}
		}
	}
	if diff := cmp.Diff(want, got.Content); diff != "" {
		t.Errorf("the answer to request %d (-SDK +agent):\n%s", i, diff)
	}
}

// readByAnthropic runs the SDK.
func readByAnthropic(t *testing.T, exchanges []anthropictest.Exchange) *anthropicReport {
	t.Helper()
	type pair struct {
		Request json.RawMessage `json:"request"`
		Stream  string          `json:"stream"`
	}
	var job struct {
		Exchanges []pair `json:"exchanges"`
	}
	for _, x := range exchanges {
		job.Exchanges = append(job.Exchanges, pair{x.Body, x.Stream})
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(interopDir, "anthropic.mjs"), file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the SDK: %v\n%s", err, stderr.String())
	}
	report := &anthropicReport{}
	if err := json.Unmarshal(out, report); err != nil {
		t.Fatalf("%v in %.500s", err, out)
	}
	return report
}
