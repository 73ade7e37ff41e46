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
	list, generation := s.providers.Tools()
	now := s.tools.Tools()
	s.mu.Lock()
	same := generation == 0 || s.adopted == adopted{generation, now}
	s.mu.Unlock()
	if same {
		return
	}
	registry, refused := withProviders(now, list)
	s.forgetAnswers(s.tools.Adopt(registry))
	s.mu.Lock()
	s.adopted = adopted{generation, registry}
	s.mu.Unlock()
	for _, err := range refused {
		s.warnOfProvider(err)
	}
}

// adopted is the tools of providers that the pipeline has: their generation, and the
// registry that they are in.
type adopted struct {
	generation int
	registry   *tools.Registry
}

// withProviders returns a registry whose tools of providers are these, and whose others
// stay.
func withProviders(now *tools.Registry, list []tools.Tool) (registry *tools.Registry, refused []error) {
	var others []tools.Tool
	for _, entry := range now.All() {
		if entry.Source.Kind != tools.Provider {
			others = append(others, entry.Tool)
		}
	}
	base, err := tools.NewRegistry(others...)
	if err != nil { // they were in a registry
		return now, []error{err}
	}
	return base.With(list...)
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
