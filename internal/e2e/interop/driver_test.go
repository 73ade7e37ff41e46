//go:build unix

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"acp-agent/acp/schema"
	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/schematest"
	"acp-agent/internal/testkit/testreq"
)

// interopDir holds the driver: a client made of the official SDK.
const interopDir = "../../../testdata/interop"

// interopStep is one thing the client does; client.mjs describes the fields.
type interopStep struct {
	Do       string         `json:"do"`
	Text     string         `json:"text,omitempty"`
	Mentions []interopLink  `json:"mentions,omitempty"`
	Answer   string         `json:"answer,omitempty"`
	Form     map[string]any `json:"form,omitempty"`
	CancelOn *interopSight  `json:"cancelOn,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	Option   string         `json:"option,omitempty"`
	Value    string         `json:"value,omitempty"`
	Ms       int            `json:"ms,omitempty"`
}

// interopLink is what a prompt mentions.
type interopLink struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
}

// interopSight is what makes the client cancel.
type interopSight struct {
	File   string `json:"file,omitempty"`
	Update string `json:"update,omitempty"`
	Text   string `json:"text,omitempty"`
}

// interopJob is what the driver reads.
type interopJob struct {
	Command      string            `json:"command"`
	Env          map[string]string `json:"env"`
	Cwd          string            `json:"cwd"`
	Buffers      map[string]string `json:"buffers"`
	Capabilities any               `json:"capabilities"`
	Steps        []interopStep     `json:"steps"`
	McpServers   []any             `json:"mcpServers,omitempty"`
	Session      string            `json:"session,omitempty"`
	AwaitServers bool              `json:"awaitServers,omitempty"`
}

// interopReport is what the driver saw.
type interopReport struct {
	Initialized schema.InitializeResponse `json:"initialized"`
	Session     schema.NewSessionResponse `json:"session"`
	Steps       []interopOutcome          `json:"steps"`
	Reads       []string                  `json:"reads"`
	Writes      []struct {
		Path, Content string
		DiskBefore    *string `json:"diskBefore"`
	} `json:"writes"`
	Buffers   map[string]string `json:"buffers"`
	Terminals []struct {
		ID, Output       string
		Killed, Released bool
	} `json:"terminals"`
	Lines      []interopLine `json:"lines"`
	Complaints []string      `json:"complaints"`
	Exit       struct {
		Code               *int
		Signal, Error      string
		Stderr, Unfinished string
	} `json:"exit"`
}

// interopOutcome is how a step ended; its lines are [From, To).
type interopOutcome struct {
	Result struct {
		StopReason    string `json:"stopReason"`
		ConfigOptions []struct {
			ID           string `json:"id"`
			CurrentValue string `json:"currentValue"`
		} `json:"configOptions"`
		SessionID string               `json:"sessionId"`
		Sessions  []schema.SessionInfo `json:"sessions"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	From, To int
}

// interopLine is one line of the connection; From is agent or client.
type interopLine struct{ From, Line string }

// needInterop returns the agent's binary, or skips the test where the driver cannot run.
func needInterop(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		testreq.Skip(t, "node is not installed")
	}
	if _, err := os.Stat(filepath.Join(interopDir, "node_modules")); err != nil {
		testreq.Skip(t, "the SDK is not installed (make interop)")
	}
	binary, err := builtAgent()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// builtAgent builds the agent as a user has it, once for all tests: those clients start
// it in an environment of their own, in which the test binary would not be the agent.
var builtAgent = sync.OnceValues(func() (binary string, err error) {
	if builtDir, err = os.MkdirTemp("", "acp-agent-interop"); err != nil {
		return "", err
	}
	binary = filepath.Join(builtDir, "acp-agent")
	return binary, helpertest.Build("acp-agent/cmd/acp-agent", binary)
})

var builtDir string

func removeBuilt() {
	if builtDir != "" {
		os.RemoveAll(builtDir)
	}
}

// drive runs a job and returns the report.
func drive(t *testing.T, job interopJob) *interopReport {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.json")
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(interopDir, "client.mjs"), file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("the driver: %v\n%s", err, stderr.String())
	}
	report := &interopReport{}
	if err := json.Unmarshal(out, report); err != nil {
		t.Fatalf("the driver's report: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for i, line := range report.Lines {
				t.Logf("%d %s: %.400s", i, line.From, line.Line)
			}
		}
	})
	return report
}

// judgeLines holds every line of both sides against the official schema.
func judgeLines(t *testing.T, report *interopReport) {
	t.Helper()
	validator := schematest.Open(t)
	for i, line := range report.Lines {
		direction := schematest.ToClient
		if line.From == "client" {
			direction = schematest.ToAgent
		}
		if err := validator.Message(direction, []byte(line.Line)); err != nil {
			t.Errorf("line %d: %v", i, err)
		}
	}
}
