package pipeline

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
	"acp-agent/workspace"
)

// targets says where the paths of one call lead. Each path is resolved once, when it is first asked
// for: as a rule while the call is prepared. Batching, confinement, judgement, watchdog and card use
// that result. When the tool uses the path, it is resolved again and must lead to the same place, see
// checkWay. targets is safe for concurrent use.
type targets struct {
	work *workspace.Workspace
	// made is a time before the first path was resolved, changes the count of Pipeline.changes then.
	made    time.Time
	changes int64

	mu sync.Mutex
	// followed has the targets with links followed, names those of the names themselves.
	followed, names map[string]workspace.Target
}

// maxTargetAge is how long targets hold when no call of the session changes anything: other programs may
// redirect a path. For a call that waited longer the paths are resolved again, so that it is judged
// for where they lead now and not refused when it uses them.
const maxTargetAge = time.Second

func (p *Pipeline) newTargets() *targets {
	return &targets{
		work: p.Workspace, made: time.Now(), changes: p.changes.Load(),
		followed: map[string]workspace.Target{}, names: map[string]workspace.Target{},
	}
}

// of returns where a path resource leads.
func (t *targets) of(env tools.Env, resource tools.Resource) workspace.Target {
	return t.at(env.Abs(resource.Value), resource.NoFollow)
}

func (t *targets) at(abs string, noFollow bool) workspace.Target {
	t.mu.Lock()
	defer t.mu.Unlock()
	table := t.followed
	if noFollow {
		table = t.names
	}
	to, known := table[abs]
	if !known {
		to = t.work.Locate(abs, noFollow)
		table[abs] = to
	}
	return to
}

// resolve is tools.Env.Resolve for the functions of a Spec.
func (t *targets) resolve(abs string) string { return t.at(filepath.Clean(abs), false).Real }

// resetTargets gives the call an empty table of targets, so that each path is resolved again when it is next asked for,
// and finds out again what the call touches.
func (c *Prepared) resetTargets(p *Pipeline) {
	c.targets = p.newTargets()
	c.env.Resolve = c.targets.resolve
	c.findTouched()
}

// findTouched finds out what the call touches, as soon as the tool is known.
func (c *Prepared) findTouched() {
	if c.entry != nil && c.entry.Resources != nil {
		c.touched = c.entry.Resources(c.args, c.env)
	}
}

// refreshTargets has the targets resolved again when they may be stale: a call has changed something since,
// or they are older than maxTargetAge.
func (c *confinement) refreshTargets(context.Context) error {
	if c.targets.changes == c.pipeline.changes.Load() && time.Since(c.targets.made) <= maxTargetAge {
		return nil
	}
	c.resetTargets(c.pipeline)
	c.remotes = c.remotes || c.showsRemotes()
	return nil
}

// isPath reports whether a resource is a path.
func isPath(resource tools.Resource) bool {
	return resource.Kind == tools.PathRead || resource.Kind == tools.PathWrite
}

// expected returns the targets of the paths that the call names, for its runtime.
func (c *confinement) expected() map[string]workspace.Target {
	expected := map[string]workspace.Target{}
	for _, resource := range c.touched {
		if isPath(resource) && !resource.NoFollow {
			to := c.targets.of(c.env, resource)
			expected[to.Path] = to
		}
	}
	return expected
}

// changedPath returns where a file is that the call has changed. A path that the call named, and did not
// delete, still leads to its target; any other path is resolved now.
func (c *confinement) changedPath(path string) string {
	abs := c.env.Abs(path)
	if slices.ContainsFunc(c.touched, func(resource tools.Resource) bool {
		return isPath(resource) && !resource.NoFollow && !resource.Deletes && c.env.Abs(resource.Value) == abs
	}) {
		return c.targets.at(abs, false).Real
	}
	return c.pipeline.Workspace.Resolve(abs)
}
