package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"acp-agent/internal/egress"
	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// newProviders returns the external providers of a session. It starts none.
func (s *sources) newProviders() *provider.Service {
	return provider.New(s.settings.Providers, provider.Options{
		Version: s.host.Version, Logger: s.host.Logger,
		Start: func(ctx context.Context, c provider.Config, stderr io.Writer) (io.ReadWriteCloser, error) {
			argv := append([]string{c.Command}, c.Args...)
			grant, err := s.providerNetwork(ctx, c)
			if err != nil {
				return nil, err
			}
			program, err := s.work.Runner().StartProgram(ctx, tools.Program{Args: argv, Dir: programDir(s.opened, s.project, c.Command, c.Args), Env: c.Env, Caches: "provider " + c.Name}, grant, stderr)
			if err != nil {
				return nil, err // not a nil *Program in an interface
			}
			return program, nil
		},
	})
}

// providerNetwork is what of the network the program of a provider starts with: as an MCP server with a list, it reaches the
// hosts of its list where hosts can be told apart, and none elsewhere.
func (s *sources) providerNetwork(ctx context.Context, c provider.Config) (run.Grant, error) {
	if c.Hosts == nil {
		return run.Grant{Network: c.Network}, nil
	}
	note, err := checkHostList(ctx, s.work.Runner(), c.Hosts)
	if err != nil {
		return run.Grant{}, err
	}
	s.networks.note(c.Name, note)
	program := pipeline.Program{Hosts: c.Hosts}
	record := recordHosts(s.opened, s.audit, tools.Provider, c.Name)
	return run.Grant{Listed: true, Connect: func(ctx context.Context, to egress.Destination) error {
		by, unlisted, err := program.MayConnect(s.policy.Rules(), to)
		record(to, pipeline.HostDecision{Err: err, By: by})
		if refusal, ok := errors.AsType[*egress.Refusal](err); ok {
			text := fmt.Sprintf("the network was closed to it for %s: %s", code(to.Pair()), refusal.Reason)
			if unlisted != nil {
				text += fmt.Sprintf("; to open it, add %s to %s of its entry", code(fmt.Sprintf("%q", unlisted.Host)), code("network"))
			}
			s.networks.note(c.Name, text)
		}
		return err
	}}, nil
}

// providerNetworks has the latest note about the network of each provider. The zero value is ready for use. It is
// safe for concurrent use.
type providerNetworks struct {
	mu    sync.Mutex        // guards notes
	notes map[string]string // by the names of the providers
}

func (n *providerNetworks) note(name, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notes == nil {
		n.notes = map[string]string{}
	}
	n.notes[name] = text
}

func (n *providerNetworks) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.notes[name]
}

// providerProblems are the failures of the providers, and which providers, scripts and modules have not
// answered yet.
func (s *sources) providerProblems() (list []problem) {
	say := func(text string) {
		list = append(list, problem{text, transcript.Notice{Severity: transcript.Warning, Title: "Tool provider", Text: text}})
	}
	for _, err := range s.providers.Problems() {
		say(err.Error())
	}
	for _, p := range s.providers.Status() {
		if p.State == provider.Starting {
			say(fmt.Sprintf("The tool provider %q has not answered yet. Once it has, its tools can be used from the next prompt on.", p.Name))
		}
	}
	for _, m := range s.modules() {
		if m.State == mount.Asking {
			say(fmt.Sprintf("%s has not described itself yet. Once it has, its tool can be used from the next prompt on.", m.Name))
		}
	}
	return list
}

// hasProviders reports whether /providers has anything to list.
func (s *sources) hasProviders() bool {
	return record.Value(s.host.Tape, "has providers", s.ID, func() bool { return len(s.settings.Providers) > 0 || len(s.modules()) > 0 })
}

// modules are the modules from outside and the scripts of toolboxes.
func (s *sources) modules() []mount.Status {
	if s.host.Mounting == nil {
		return nil
	}
	return s.host.Mounting.Status()
}

// providersText is /providers.
func (s *sources) providersText(ctx context.Context) string {
	s.awaitForOnlyPrompt(ctx)
	var b strings.Builder
	if list := s.providers.Status(); len(list) > 0 {
		b.WriteString("**External providers**\n\n")
		for _, p := range list {
			fmt.Fprintf(&b, "- %s: %s, %s", code(p.Name), p.State, kinds.Count(len(p.Tools), "tool"))
			if p.Place != "" {
				fmt.Fprintf(&b, ", %s (%s)", code(p.Place), p.Type)
			}
			b.WriteString("\n")
			if text := s.networks.of(p.Name); text != "" {
				fmt.Fprintf(&b, "  - network: %s\n", text)
			}
			detail(&b, p.Problems, p.Tools)
		}
		b.WriteString("\n")
	}
	if list := s.modules(); len(list) > 0 {
		b.WriteString("**Scripts and modules**\n\n")
		for _, m := range list {
			fmt.Fprintf(&b, "- %s: %s\n", code(m.Name), m.State)
			var problems []string
			if m.Problem != "" {
				problems = []string{m.Problem}
			}
			detail(&b, problems, m.Tools)
		}
	}
	if b.Len() == 0 {
		return "There are neither external providers nor scripts of a toolbox in this session. Your configuration names them, under `external.toolProviders` and `toolbox`."
	}
	return b.String()
}

// detail lists the errors and the tools of one source.
func detail(b *strings.Builder, problems, tools []string) {
	for _, problem := range problems {
		fmt.Fprintf(b, "  - last error: %s\n", code(problem))
	}
	if len(tools) > 0 {
		fmt.Fprintf(b, "  - %s\n", someOf(tools))
	}
}
