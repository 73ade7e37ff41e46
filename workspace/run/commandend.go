package run

import (
	"slices"

	"acp-agent/internal/launch"
)

// end puts back what a command must not have changed, and releases its sandbox. No process of the command is left. The notes say
// what was put back.
func (c *confined) end() (notes []string) {
	if c.before != nil {
		notes = c.before.restore()
	}
	c.release()
	return notes
}

// endOf is end for a command of the call. The notes, and what the call keeps as moved aside, include those of
// commands that were stopped before. The call of a job is over, so those of a job are left to the next
// command.
func (c *Commands) endOf(cmd confined) (notes []string) {
	if cmd.job != nil {
		c.runner.endUnreported(cmd)
		return nil
	}
	notes = append(c.runner.popLateNotes(), cmd.end()...)
	stopped := c.runner.popLateAsides()
	if cmd.before != nil {
		stopped = append(stopped, cmd.before.asides...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.movedAside = append(c.movedAside, stopped...)
	return notes
}

// MovedAside returns the changes that were moved aside: of the call's commands, and of commands
// that were stopped earlier.
func (c *Commands) MovedAside() []MovedAside {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.movedAside)
}

// endAfterAnswer is end for a command that is still being stopped when its call has its answer.
func (r *Runner) endAfterAnswer(c confined, p *launch.Process) {
	r.afterAnswer(func() {
		<-p.Done()
		r.endUnreported(c)
	})
}

// endUnreported is end for a command whose call has its answer. What was put back is reported with the next
// command, and the user is asked about it then.
func (r *Runner) endUnreported(c confined) {
	notes := c.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lateNotes = append(r.lateNotes, notes...)
	if c.before == nil {
		return
	}
	for _, aside := range c.before.asides {
		aside.Late = true
		r.lateAsides = append(r.lateAsides, aside)
	}
}

// popLateNotes returns and clears the notes that endUnreported left.
func (r *Runner) popLateNotes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	notes := r.lateNotes
	r.lateNotes = nil
	return notes
}

// popLateAsides returns and clears what endUnreported left that was moved aside.
func (r *Runner) popLateAsides() []MovedAside {
	r.mu.Lock()
	defer r.mu.Unlock()
	asides := r.lateAsides
	r.lateAsides = nil
	return asides
}
