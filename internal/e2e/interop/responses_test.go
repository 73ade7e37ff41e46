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
	"acp-agent/internal/testkit/responsestest"
)

// responsesReport is what the SDK saw; responses.mjs describes it.
type responsesReport struct {
	Exchanges []struct {
		Request struct {
			Path string
			Body map[string]any
		}
		Response struct {
			Status string
			Output []map[string]any
		}
	}
	Errors []string
	Steps  []string
}

// TestInterop_Responses has the official SDK read a task of 30 calls with thinking: its types
// take each request of the agent, it sends the same body to the same path, and the items that
// it makes of each stream are what the agent sends back in the next request. It is a
// client of the strict server, too, which finds nothing wrong with what it documents.
// The short form does without the types.
func TestInterop_Responses(t *testing.T) {
	t.Parallel()
	binary := needInterop(t)
	server := responsestest.New(t, append(responsestest.Task(), responsestest.Step{Text: "And on."})...)
	server.Known = true
	agent := acptest.Start(t, acptest.Options{Program: binary, Env: agenttest.ResponsesEnv(t, server.URL, "responses", "high")})
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
	var exchanges []responsestest.Exchange
	for _, x := range server.Exchanges() {
		if strings.Contains(string(x.Body), `"tools":[`) {
			exchanges = append(exchanges, x)
		}
	}
	other := responsestest.New(t, responsestest.Task()[:4]...)
	other.Known = true
	report := readByOpenAI(t, exchanges, other.URL, 4)
	if len(exchanges) != 22 || len(report.Exchanges) != len(exchanges) || len(report.Errors) > 0 {
		t.Fatalf("%d of %d exchanges read; the types say: %s", len(report.Exchanges), len(exchanges), strings.Join(report.Errors, "\n"))
	}
	if !strings.Contains(string(exchanges[21].Body), `"image_url":"data:image/png;base64,aGk="`) {
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
			sameItems(t, i, read.Response.Output, body["input"].([]any), exchanges[i+1].Body)
		}
	}
	want := "reasoning function_call; reasoning message function_call reasoning function_call; reasoning function_call; reasoning message function_call function_call"
	if got := strings.Join(report.Steps, "; "); got != want || len(other.Broken()) > 0 {
		t.Errorf("the SDK had %s of the strict server, which refused %q", got, other.Broken())
	}
}

// sameItems compares the items that the SDK made of a stream with the items that the agent sends
// back: they follow what it had sent before.
func sameItems(t *testing.T, i int, want []map[string]any, before []any, next []byte) {
	t.Helper()
	var body struct{ Input []map[string]any }
	if err := json.Unmarshal(next, &body); err != nil {
		t.Fatal(err)
	}
	got := body.Input[len(before):]
	got = got[:min(len(want), len(got))]
	for _, items := range [][]map[string]any{want, got} {
		for _, item := range items {
			delete(item, "parsed_arguments") // the SDK's own
			if item["type"] != "message" {
				delete(item, "status")
			}
			content, _ := item["content"].([]any)
			for _, part := range content {
				delete(part.(map[string]any), "parsed")
				delete(part.(map[string]any), "logprobs")
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answer to request %d (-SDK +agent):\n%s", i, diff)
	}
}

// readByOpenAI runs the SDK.
func readByOpenAI(t *testing.T, exchanges []responsestest.Exchange, address string, steps int) *responsesReport {
	t.Helper()
	type pair struct {
		Request json.RawMessage `json:"request"`
		Stream  string          `json:"stream"`
	}
	job := struct {
		Exchanges []pair `json:"exchanges"`
		Address   string `json:"address"`
		Steps     int    `json:"steps"`
	}{Address: address, Steps: steps}
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
	cmd := exec.CommandContext(ctx, "node", filepath.Join(interopDir, "responses.mjs"), file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the SDK: %v\n%s", err, stderr.String())
	}
	report := &responsesReport{}
	if err := json.Unmarshal(out, report); err != nil {
		t.Fatalf("%v in %.500s", err, out)
	}
	return report
}
