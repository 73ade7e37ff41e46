package session

import (
	"context"
	"errors"
	"io"
	"time"

	"acp-agent/internal/lsp"
	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// languages are the language servers of a session. Each starts with the first question for it and ends
// with the session.
type languages struct{ *lsp.Manager }

func newLanguages(work *workspace.Workspace, servers []lsp.Server, tape *record.Tape) languages {
	return languages{lsp.New(lsp.Options{
		Servers: servers, Roots: work.Session().Roots, LookPath: func(name string) (string, bool) {
			path := record.Value(tape, "program", name, func() string {
				path, _ := work.Runner().LookPath(name)
				return path
			})
			return path, path != ""
		},
		Start: func(ctx context.Context, argv []string, dir string, stderr io.Writer) (io.ReadWriteCloser, error) {
			program, err := work.Runner().StartProgram(ctx, tools.Program{Args: argv, Dir: dir, Env: tools.OwnToolchain()}, run.Grant{}, stderr)
			if err != nil {
				return nil, err // not a nil *Program in an interface
			}
			return program, nil
		},
		Open: func(path string) (io.ReadCloser, error) {
			call := work.Call("languages", "lsp", nil)
			defer call.Finish()
			return call.FS().Open(context.Background(), path)
		},
		Grace: languageGrace,
	})}
}

// languageGrace is how long a language server has to end by itself: closing the
// editor must not wait for it.
const languageGrace = 300 * time.Millisecond

// Ask implements tools.LanguageServers.
func (l languages) Ask(ctx context.Context, q tools.LanguageQuery) (*tools.LanguageAnswer, error) {
	answer, err := l.Manager.Ask(ctx, lsp.Query(q))
	var missing *lsp.MissingError
	switch {
	case err == nil:
	case errors.As(err, &missing):
		return nil, &tools.Error{Kind: tools.Unavailable, Path: q.Path, Message: err.Error(), Err: err}
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, &tools.Error{Kind: tools.Backend, Path: q.Path, Message: err.Error(), Err: err}
	}
	out := &tools.LanguageAnswer{Server: answer.Server}
	for _, at := range answer.Locations {
		out.Locations = append(out.Locations, tools.CodeLocation{Path: at.Path, Line: at.Line, Column: at.Column})
	}
	for _, d := range answer.Diagnostics {
		out.Diagnostics = append(out.Diagnostics, tools.Diagnostic(d))
	}
	return out, nil
}
