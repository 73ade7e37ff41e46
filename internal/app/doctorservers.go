package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/model"
)

// serverTimeout bounds the wait for what one model server says of its models.
const serverTimeout = 10 * time.Second

// askServers asks the model servers of the configuration, with the key of the login where
// there is one.
func (c *core) askServers(ctx context.Context, cfg *config.Config) []finding {
	if err := c.loadLoginKey(ctx, cfg); err != nil {
		return []finding{{"login", doctorFail, err.Error(), "run acp-agent login again"}}
	}
	servers, _ := c.modelServers(cfg)
	return serverFindings(ctx, servers)
}

// serverFindings asks the model servers that can be used for their models, all at once. It
// sends no prompt.
func serverFindings(ctx context.Context, servers []configuredServer) []finding {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	servers = slices.DeleteFunc(slices.Clone(servers), func(s configuredServer) bool { return s.Missing != "" })
	found := make([]finding, len(servers))
	var asked sync.WaitGroup
	for i, s := range servers {
		asked.Go(func() { found[i] = serverFinding(ctx, s) })
	}
	asked.Wait()
	return found
}

// serverFinding says whether a server answers and has the configured model, and what will not
// work well with it.
func serverFinding(ctx context.Context, s configuredServer) finding {
	f := finding{Name: "server " + s.Name, Status: doctorFail}
	provider, err := s.Open()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	if closer, ok := provider.(interface{ Close() }); ok {
		defer closer.Close()
	}
	list, err := provider.Models(ctx)
	if err != nil {
		failure := model.AsError(err)
		f.Detail, f.Hint = failure.Message, failure.Hint
		if ctx.Err() != nil {
			f.Detail = fmt.Sprintf("no answer within %v", serverTimeout)
		}
		return f
	}
	f.Status, f.Detail = doctorOK, "answers, with "+kinds.Count(len(list), "model")
	if s.model == "" {
		return f
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(m model.Info) bool { return m.ID == s.model }) {
		f.Status, f.Hint = doctorWarn, "choose one that the server lists; it may still take others"
		f.Detail += fmt.Sprintf(", but does not list %q", s.model)
		return f
	}
	warnings, err := provider.Probe(ctx, s.model)
	if err != nil {
		warnings = []string{model.AsError(err).Message}
	}
	if len(warnings) > 0 {
		f.Status, f.Hint = doctorWarn, strings.Join(warnings, " ")
	}
	return f
}
