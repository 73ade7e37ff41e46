package run

import (
	"fmt"
	"sync/atomic"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/tools"
)

// limit puts the resource limits on a command (X5). bounded is [Grant].Bounded.
func (c *confined) limit(l tools.CommandLimits, bounded bool) {
	c.bounded = bounded
	c.Limits = launch.Limits{FileSize: l.FileSize, Files: l.Files, Memory: l.Memory, Processes: l.Processes}
	if !bounded {
		return
	}
	c.timeout = l.ReadingTimeout
	if l.ReadingMemory > 0 && (l.Memory == 0 || l.ReadingMemory < l.Memory) {
		c.Limits.Memory = l.ReadingMemory
	}
}

// limitTime stops the command when its time is over. expired ends the limit, and reports whether the command
// was stopped.
func (c *confined) limitTime(p *launch.Process) (expired func() bool) {
	if c.timeout <= 0 {
		return func() bool { return false }
	}
	var over atomic.Bool
	clock := time.AfterFunc(c.timeout, func() {
		over.Store(true)
		p.Stop(launch.StopGrace)
	})
	return func() bool { return !clock.Stop() && over.Load() }
}

// exceeded says which limit ended the command, and which setting that is.
func (c *confined) exceeded(s launch.Status, expired bool) []string {
	if expired {
		return []string{fmt.Sprintf("the command was ended after %v, the time limit of commands that run without a question because they only read; "+
			"the user can change it with limits.reading_timeout in the configuration file", c.timeout)}
	}
	var what, setting string
	switch s.Exceeded {
	case launch.ExceededMemory:
		what, setting = size(c.Limits.Memory)+" of memory for all of its processes together", "limits.memory"
		if c.bounded {
			what += ", the limit of commands that run without a question because they only read"
			setting = "limits.reading_memory and limits.memory"
		}
	case launch.ExceededProcesses:
		what, setting = fmt.Sprintf("%d processes and threads", c.Limits.Processes), "limits.processes"
	case launch.ExceededFileSize:
		what, setting = size(c.Limits.FileSize)+" for each file that it writes", "limits.file_size"
	default:
		return nil
	}
	return []string{"the command was ended because it reached a limit: " + what + "; the user can change it with " + setting + " in the configuration file"}
}

// size returns a number of bytes in a form for reading.
func size(bytes uint64) string {
	const mib, gib = 1 << 20, 1 << 30
	if bytes >= gib {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
}
