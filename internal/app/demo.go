package app

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"acp-agent/acp"
	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/config"
	"acp-agent/model/script"
)

//go:embed demo
var demoFiles embed.FS

// demoPrompt is what the user of the demo asks.
const demoPrompt = "The greeting is misspelt. Please fix it and run the test."

func newDemo() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a turn in the terminal: no editor, no key, no network",
		Long: `Watch a whole turn in the terminal. A scripted model works on a scratch
project through the real protocol: it gives the repair to a subagent, which
has another one read the files, proposes a change as a diff and asks for
permission; then it runs a command, and answers.

Nothing outside temporary directories is touched, and those are removed at
the end. With --yes every question is answered with yes. Exit code: 0 the turn
has ended; 1 it failed; 130 interrupted.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			view := newDemoView(cmd.OutOrStdout(), cmd.InOrStdin(), yes)
			err := runDemo(cmd.Context(), view, cmd.ErrOrStderr())
			if cmd.Context().Err() != nil {
				return userInterrupted(cmd.ErrOrStderr())
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "answer every question with yes")
	return cmd
}

// runDemo serves the agent on one end of a pair of pipes and plays the editor
// on the other.
func runDemo(ctx context.Context, view *demoView, stderr io.Writer) error {
	project, err := demoProject()
	if err != nil {
		return err
	}
	defer os.RemoveAll(project)
	stateDir, err := os.MkdirTemp("", "acp-agent-demo-state-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stateDir)
	core, err := demoCore(stderr, stateDir)
	if err != nil {
		return err
	}
	defer core.Close()
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	served := make(chan error, 1)
	go func() { // ends when the client's end is closed, below
		err := acp.Serve(ctx, toAgent, fromAgent, acp.Options{Core: core, Version: version, Logger: core.logger.Logger})
		fromAgent.Close()
		served <- err
	}()
	conn := rpc.New(toClient, fromClient, view, rpc.Options{})
	clientDone := make(chan error, 1)
	go func() { clientDone <- conn.Run(ctx) }() // ends with the agent's output

	turnErr := demoTurn(ctx, conn, view, project)
	fromClient.Close()
	err = errors.Join(turnErr, <-served)
	<-clientDone
	return err
}

// demoTurn is one conversation as an editor has it.
func demoTurn(ctx context.Context, conn *rpc.Conn, view *demoView, project string) error {
	view.heading(project)
	initialize := &schema.InitializeRequest{
		ProtocolVersion: 1, ClientInfo: &schema.Implementation{Name: "acp-agent-demo", Version: version},
		ClientCapabilities: schema.ClientCapabilities{Meta: map[string]any{"terminal_output": true}},
	}
	if err := conn.Call(ctx, schema.MethodInitialize, initialize, &schema.InitializeResponse{}); err != nil {
		return err
	}
	var opened schema.NewSessionResponse
	if err := conn.Call(ctx, schema.MethodSessionNew, &schema.NewSessionRequest{Cwd: project}, &opened); err != nil {
		return err
	}
	view.prompt(demoPrompt)
	prompt := &schema.PromptRequest{
		SessionID: opened.SessionID, Prompt: schema.List[schema.ContentBlock]{schema.TextContent{Text: demoPrompt}},
	}
	var answer schema.PromptResponse
	if err := conn.Call(ctx, schema.MethodSessionPrompt, prompt, &answer); err != nil {
		return err
	}
	view.end(string(answer.StopReason))
	return conn.Call(ctx, schema.MethodSessionClose, &schema.CloseSessionRequest{SessionID: opened.SessionID}, &schema.CloseSessionResponse{})
}

// demoProject writes the scratch project.
func demoProject() (string, error) {
	dir, err := os.MkdirTemp("", "acp-agent-demo-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"greet.sh", "test.sh"} {
		data, err := demoFiles.ReadFile("demo/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// demoCore is the agent with the scripted model and without the user's own
// configuration, so that the demo is the same for everyone.
func demoCore(stderr io.Writer, stateDir string) (*core, error) {
	file, err := demoFiles.Open("demo/model.jsonl")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	loaded, err := script.Load("model.jsonl", file)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	core := newCore(stderr)
	core.stateDir, core.dataDir, core.cacheDir = stateDir, filepath.Join(stateDir, "data"), filepath.Join(stateDir, "cache")
	core.sources = config.Sources{HomeDir: core.sources.HomeDir}
	core.scripted = loaded.Provider(script.Options{Cwd: cwdOf})
	return core, nil
}
