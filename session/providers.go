package session

import (
	"context"
	"io"
	"time"

	"acp-agent/tools"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
)

// providerWait is how long a prompt waits for providers that were never reached: those
// that are quick are there at the first request, and one that hangs costs no more.
const providerWait = 3 * time.Second

// newProviders returns the external providers of a session; none is started.
func (s *Session) newProviders() *provider.Service {
	return provider.New(s.settings.Providers, provider.Options{
		Version: s.host.Version, Logger: s.host.Logger,
		Start: func(ctx context.Context, c provider.Config, stderr io.Writer) (io.ReadWriteCloser, error) {
			argv := append([]string{c.Command}, c.Args...)
			program, err := s.work.StartProgram(ctx, tools.Program{Args: argv, Dir: s.work.Session().Cwd, Env: c.Env}, c.Network, stderr)
			if err != nil {
				return nil, err // not a nil *Program in an interface
			}
			return program, nil
		},
	})
}

// AwaitProviders reaches for the external providers and waits until each has been reached
// or has failed, or ctx ends; then their tools are there. It is not for use during a turn,
// within which the tools do not change.
func (s *Session) AwaitProviders(ctx context.Context) {
	s.providers.Begin()
	s.providers.Settle(ctx)
	s.adoptTools()
}

// refreshProviders brings the tools of providers up to date before a turn, and says once
// what is wrong with them.
func (s *Session) refreshProviders(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, providerWait)
	defer cancel()
	s.AwaitProviders(ctx)
	for _, err := range s.providers.Problems() {
		s.warnOfProvider(err)
	}
}

func (s *Session) warnOfProvider(err error) {
	text := err.Error()
	s.sayOnce(text, transcript.Notice{Severity: transcript.Warning, Title: "Tool provider", Text: text})
}
