package config

import (
	"cmp"
	"fmt"
	"time"
)

// The profiles of limits: which numbers the tools' own limits take.
const (
	ProfileWindow    = "window"
	ProfileCanonical = "canonical"
	ProfileAmp       = "amp"
)

// Defaults of the limits (docs/configuration.md, docs/security.md X5) and the most that may be set.
const (
	defaultMaxSteps     = 200
	defaultToolTimeout  = 120 * time.Second
	defaultConcurrent   = 10
	defaultSidecarBytes = 1 << 30
	defaultResultSize   = 30 << 10

	defaultMemory         = 75 // percent
	defaultReadingMemory  = 2 << 30
	defaultReadingTimeout = 2 * time.Minute
	defaultProcesses      = 4096
	defaultFileSize       = 32 << 30

	defaultJobs      = 32
	defaultJobTime   = 24 * time.Hour
	defaultJobOutput = 16 << 20

	defaultSearchCalls   = 25
	defaultSearchTimeout = 15 * time.Second

	mostSteps      = 100_000
	mostConcurrent = 64
	mostJobs       = 1000

	leastResultSize = 1 << 10
	mostResultSize  = 1 << 30

	// With less, no command would run.
	leastMemory    = 16 << 20
	leastProcesses = 16
)

// Limits bound what a turn may spend.
type Limits struct {
	// Profile is ProfileWindow, ProfileCanonical or ProfileAmp.
	Profile string `json:"profile"`
	// ResultSize is the most that the model reads of a tool's result where its window is
	// large; of ProfileWindow.
	ResultSize Size `json:"result_size"`
	// MaxSteps is the most model calls of one turn.
	MaxSteps int `json:"max_steps"`
	// BashTimeout ends a command; 0 means never.
	BashTimeout Duration `json:"bash_timeout"`
	// ToolTimeout ends any other tool call that makes no progress.
	ToolTimeout Duration `json:"tool_timeout"`
	// Concurrent is the most tool calls that run at once.
	Concurrent int `json:"concurrent"`
	// SidecarBytes is the most that a session keeps of long outputs; 0 keeps none.
	SidecarBytes int64 `json:"sidecar_bytes"`
	// Memory is the most that a command and all of its processes use together;
	// ReadingMemory is that of a command that runs without a question because it only
	// reads, and ReadingTimeout ends such a command; 0 means no limit.
	Memory         Memory   `json:"memory"`
	ReadingMemory  Size     `json:"reading_memory"`
	ReadingTimeout Duration `json:"reading_timeout"`
	// Processes is the most processes and threads of a command; 0 means no limit.
	Processes uint64 `json:"processes"`
	// FileSize is the largest file that a command may write; 0 means no limit.
	FileSize Size `json:"file_size"`
	// Jobs is the most commands in the background at once, JobTime ends each, and JobOutput is
	// the most that a file holds of what it printed; 0 keeps none.
	Jobs      int      `json:"jobs"`
	JobTime   Duration `json:"job_time"`
	JobOutput Size     `json:"job_output"`
	// SearchCalls is the most web searches of a session; SearchTimeout ends each.
	SearchCalls   int      `json:"search_calls"`
	SearchTimeout Duration `json:"search_timeout"`
}

func defaultLimits() Limits {
	return Limits{
		Profile:      ProfileWindow,
		ResultSize:   Size{defaultResultSize},
		MaxSteps:     defaultMaxSteps,
		ToolTimeout:  Duration{defaultToolTimeout},
		Concurrent:   defaultConcurrent,
		SidecarBytes: defaultSidecarBytes,

		Memory:         Memory{Percent: defaultMemory},
		ReadingMemory:  Size{defaultReadingMemory},
		ReadingTimeout: Duration{defaultReadingTimeout},
		Processes:      defaultProcesses,
		FileSize:       Size{defaultFileSize},

		Jobs: defaultJobs, JobTime: Duration{defaultJobTime}, JobOutput: Size{defaultJobOutput},

		SearchCalls: defaultSearchCalls, SearchTimeout: Duration{defaultSearchTimeout},
	}
}

// tighten takes from the project's limits what is lower. A project may ask for more
// without harm: it does not get it, and a file shared by many need not know the limits
// of each.
func (l *Limits) tighten(p projectLimits) {
	lower(&l.MaxSteps, p.MaxSteps)
	lower(&l.Concurrent, p.Concurrent)
	lower(&l.SidecarBytes, p.SidecarBytes)
	lower(&l.Jobs, p.Jobs)
	l.JobTime.lower(p.JobTime)
	if p.JobOutput != nil { // 0 is the lowest
		lower(&l.JobOutput.Bytes, &p.JobOutput.Bytes)
	}
	if p.ToolTimeout != nil {
		l.ToolTimeout.Duration = min(l.ToolTimeout.Duration, p.ToolTimeout.Duration)
	}
	l.BashTimeout.lower(p.BashTimeout)
	l.ReadingTimeout.lower(p.ReadingTimeout)
	l.Memory.lower(p.Memory)
	l.ReadingMemory.lower(p.ReadingMemory)
	l.FileSize.lower(p.FileSize)
	if n := p.Processes; n != nil && *n > 0 && (l.Processes == 0 || *n < l.Processes) {
		l.Processes = *n
	}
}

func lower[T cmp.Ordered](limit, to *T) {
	if to != nil {
		*limit = min(*limit, *to)
	}
}

// lower takes another time limit if it is stricter; 0 means no limit.
func (d *Duration) lower(to *Duration) {
	if to != nil && to.Duration > 0 && (d.Duration == 0 || to.Duration < d.Duration) {
		*d = *to
	}
}

// Duration is a length of time, written as text such as "90s" or "5m".
type Duration struct{ time.Duration }

// UnmarshalText implements encoding.TextUnmarshaler. A negative time is an error.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf(`expects a time with a unit, such as "90s" or "5m", found %q`, text)
	}
	if v < 0 {
		return fmt.Errorf("expects a time that is not negative, found %q", text)
	}
	d.Duration = v
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(d.String()), nil
}
