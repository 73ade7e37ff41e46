package v1

import (
	"context"
	"maps"
	"slices"

	"acp-agent/acp/schema"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// terminals implements run.Terminals with the client's terminal/* methods.
type terminals struct{ *link }

// Create starts a program in a terminal of the client.
func (t *terminals) Create(ctx context.Context, cmd string, args []string, env map[string]string, cwd string, outputLimit int) (run.Terminal, error) {
	params := &schema.CreateTerminalRequest{
		SessionID: schema.SessionId(t.session), Command: cmd, Args: args, Cwd: &cwd,
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		params.Env = append(params.Env, schema.EnvVariable{Name: name, Value: env[name]})
	}
	if outputLimit > 0 {
		params.OutputByteLimit = pointer(uint64(outputLimit))
	}
	var response schema.CreateTerminalResponse
	if err := t.conn.Call(ctx, schema.MethodTerminalCreate, params, &response); err != nil {
		return nil, err
	}
	return &terminal{link: t.link, id: response.TerminalID}, nil
}

// terminal is one terminal of the client.
type terminal struct {
	*link
	id schema.TerminalId
}

// ID is the client's id of the terminal.
func (t *terminal) ID() string { return string(t.id) }

// Wait returns when the program has exited.
func (t *terminal) Wait(ctx context.Context) (tools.Exit, error) {
	var response schema.WaitForTerminalExitResponse
	err := t.conn.Call(ctx, schema.MethodTerminalWaitForExit,
		&schema.WaitForTerminalExitRequest{SessionID: schema.SessionId(t.session), TerminalID: t.id}, &response)
	exit := tools.Exit{Signal: response.Signal}
	if response.ExitCode != nil {
		exit.Code = int(*response.ExitCode)
	}
	return exit, err
}

// Kill ends the program and keeps the terminal.
func (t *terminal) Kill(ctx context.Context) error {
	return t.conn.Call(ctx, schema.MethodTerminalKill,
		&schema.KillTerminalRequest{SessionID: schema.SessionId(t.session), TerminalID: t.id}, &schema.KillTerminalResponse{})
}

// Output returns what the client has kept of the output.
func (t *terminal) Output(ctx context.Context) (text string, truncated bool, err error) {
	var response schema.TerminalOutputResponse
	err = t.conn.Call(ctx, schema.MethodTerminalOutput,
		&schema.TerminalOutputRequest{SessionID: schema.SessionId(t.session), TerminalID: t.id}, &response)
	return response.Output, response.Truncated, err
}

// Release lets the client free the terminal.
func (t *terminal) Release(ctx context.Context) error {
	return t.conn.Call(ctx, schema.MethodTerminalRelease,
		&schema.ReleaseTerminalRequest{SessionID: schema.SessionId(t.session), TerminalID: t.id}, &schema.ReleaseTerminalResponse{})
}
