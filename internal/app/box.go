package app

import (
	"context"
	"os"
	"path/filepath"

	"acp-agent/config"
	"acp-agent/sandbox"
)

// newBox returns what confines the processes that this one starts. Its probe tries out what the
// machine can do when it is first asked.
func (c *core) newBox(cfg *config.Config) *sandbox.Box {
	finder := &sandbox.Finder{Launcher: c.launcher, Dir: filepath.Join(c.stateDir, "trials"), Level: requiredKind(cfg.Sandbox.Level)}
	memory := &sandbox.Memory{Finder: finder, Path: filepath.Join(c.stateDir, "sandbox.json"), ReadOnly: c.readOnly}
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
		Home:  c.sources.HomeDir, Own: c.ownPaths(), Guarded: c.agentDirs(), Environ: os.Environ(), Packages: c.sources.PackageDirs(),
		Readable: c.mountOptions(nil, cfg.Toolbox).LocalDirs(plan(cfg.Tools.Mount)),
		CacheDir: filepath.Join(c.cacheDir, "commands"), ClaimsDir: filepath.Join(c.stateDir, "held"),
	}
}

// requiredKind is the kind that sandbox.level requires; empty means the strongest that works.
func requiredKind(name string) sandbox.Kind {
	if name == config.SandboxAuto {
		return ""
	}
	return sandbox.Kind(name)
}
