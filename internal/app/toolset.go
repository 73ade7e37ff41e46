package app

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/config"
	"acp-agent/internal/websearch"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
)

// toolset is the tools of this process, made of the user's configuration. No
// project has a say in it (T1).
type toolset struct {
	// guarded are the modules' directories.
	guarded  []string
	registry *tools.Registry
	mounting *mount.Mounting
	web      *web
}

// newToolset makes the tools, and starts nothing: modules and scripts that describe themselves
// are asked when a session starts. A module that cannot be mounted, or a search provider that
// cannot be used, is a warning, and the others remain (R8).
func (c *core) newToolset(cfg *config.Config) (*toolset, error) {
	var providers []websearch.Provider
	for i, p := range cfg.Search.Providers {
		provider, err := websearch.New(websearch.Config{Type: p.Type, URL: p.URL, Key: p.APIKey.Reveal(), File: p.File})
		if err != nil {
			c.warn(fmt.Errorf("search.providers[%d]: %w", i, err))
			continue
		}
		providers = append(providers, provider)
	}
	web, err := newWeb(cfg, providers, &c.keys)
	if err != nil {
		return nil, err
	}
	all := builtin.Options{
		Ripgrep: cfg.Search.Ripgrep, Search: providers, Formatters: cfg.Format, Checks: checks(cfg.Checks),
		MaxMatches: cfg.Tools.Search.MaxMatches,
	}.All()
	if standIns.Tools != nil {
		all = append(all, standIns.Tools()...)
	}
	options, entries := c.mountOptions(all, cfg.Toolbox), plan(cfg.Tools.Mount).With(all)
	set := &toolset{web: web, guarded: options.LocalDirs(entries), mounting: mount.Open(context.Background(), entries, options)}
	for _, failure := range set.mounting.Failures() {
		c.warn(failure)
	}
	if err := set.register(session.RecordMounted(c.tape, set.mounting.Tools())); err != nil {
		return nil, err
	}
	return set, nil
}

// register makes the registry of the tools that are mounted so far. When that fails, it closes the
// set.
func (s *toolset) register(mounted []tools.Tool) (err error) {
	if s.registry, err = tools.NewRegistry(mounted...); err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

func plan(entries []config.Mount) mount.Plan {
	var list mount.Plan
	for _, entry := range entries {
		list = append(list, mount.Entry{
			Module: entry.Module, Source: entry.Source, Config: entry.Config, At: entry.At,
		})
	}
	return list
}

// mountOptions say where modules come from. Every built-in tool is a module with its own id, and so
// are the scripts of the user's toolbox (R93).
func (c *core) mountOptions(all []tools.Tool, box config.Toolbox) mount.Options {
	toolbox := mount.Toolbox{Dirs: box.Dirs, Env: box.Env.List(), Network: box.Network}
	if box.Dirs == nil {
		toolbox.Usual = c.sources.Toolboxes()
	}
	return mount.Options{
		Builtin: mount.Builtins(all),
		Taken:   mount.Names(all), Dir: c.sources.MountDir(), Home: c.sources.HomeDir, Describe: c.describe, Toolbox: toolbox,
		Failed: func(failure mount.Failure) { c.warn(failure) },
	}
}

func checks(from []config.Check) []builtin.Check {
	var list []builtin.Check
	for _, check := range from {
		list = append(list, builtin.Check{Name: check.Name, Cmd: check.Cmd})
	}
	return list
}

// close ends what the modules hold.
func (s *toolset) close() error {
	s.web.close()
	return s.mounting.Close()
}

// warn says what of the configuration cannot be used, in the log and, at its
// start, in each session.
func (c *core) warn(err error) {
	c.logger.Warn("configuration", "problem", err.Error())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, err.Error())
}
