package acp

import (
	"context"
	"io"
	"log/slog"

	"acp-agent/acp/rpc"
	"acp-agent/acp/v1"
)

// Login is how a client runs the login in a terminal.
type Login = v1.Login

// Options are what Serve needs.
type Options struct {
	// Core is the agent behind the protocol.
	Core v1.Core
	// Version is the agent's own.
	Version string
	// Login is how a client runs the login in a terminal; the zero value offers none.
	Login Login
	// OnLine, if not nil, sees every line; see rpc.Options.
	OnLine func(dir string, line []byte)
	// Logger gets what is odd, never contents; nil means none.
	Logger *slog.Logger
}

// Serve serves one connection until its input ends, ctx ends, or writing
// fails. Turns that run are cancelled and answered, and when it returns no
// process is left that it started (R149). The end of the input is not an error.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	agent := v1.New(v1.Options{Core: o.Core, Version: o.Version, Login: o.Login, Logger: o.Logger})
	conn := rpc.New(in, out, agent, rpc.Options{Logger: o.Logger, OnLine: o.OnLine})
	agent.Connect(conn)
	err := conn.Run(ctx)
	agent.Close()
	return err
}
