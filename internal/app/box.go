package app

import (
	"context"
	"os"
	"path/filepath"

	"acp-agent/config"
	"acp-agent/sandbox"
)

// newBox is how this process confines the processes that it starts. What the
// machine can do is found out once it is asked.
func (c *core) newBox(cfg *config.Config) *sandbox.Box {
	finder := &sandbox.Finder{Launcher: c.launcher, Dir: filepath.Join(c.stateDir, "trials"), Level: level(cfg.Sandbox.Level)}
	memory := &sandbox.Memory{Finder: finder, Path: filepath.Join(c.stateDir, "sandbox.json"), ReadOnly: c.inert}
	probe := sandbox.NewProbe(func(ctx context.Context) sandbox.Report {
		report := finder.Find(ctx)
		if ctx.Err() == nil { // else the agent is ending
			c.logger.Info("sandbox", "kind", report.Kind, "network", report.Network, "refused", report.Refused, "notes", report.Notes)
		}
		return report
	})
	probe.Memory = memory
	return &sandbox.Box{
		Probe: probe,
		Home:  c.sources.HomeDir, Own: c.own(), Guarded: c.agentDirs(), Environ: os.Environ(), Packages: c.sources.PackageDirs(),
		Readable: c.mountOptions(nil, cfg.Toolbox).LocalDirs(plan(cfg.Tools.Mount)),
		CacheDir: filepath.Join(c.cacheDir, "commands"), HoldDir: filepath.Join(c.stateDir, "held"),
	}
}

// level is the kind that is required; empty means the strongest that works.
func level(name string) sandbox.Kind {
	if name == config.SandboxAuto {
		return ""
	}
	return sandbox.Kind(name)
}
