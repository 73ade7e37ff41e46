package tools

import (
	"time"
)

// Limits are the sizes that a host may tune (docs/configuration.md has their defaults).
type Limits struct {
	// ReadBytes bounds what read returns: 204,800, or 65,536 in profile amp.
	ReadBytes int
	// FileBytes bounds files opened whole: 10,000,000.
	FileBytes int64
	// GrepTotal bounds grep's hits: 200, or 100 in profile amp.
	GrepTotal int
	// GlobTotal bounds glob's files: 1,000.
	GlobTotal int
	// BashBytes bounds a command's output inline: 204,800; BashTail is how much
	// of its end is always kept, in characters: 50,000. Profile amp keeps the
	// tail alone.
	BashBytes, BashTail int
	TailOnly            bool
	// FetchBytes bounds the text of a page: 204,800, or 262,144 in profile amp.
	FetchBytes int
	// ResultBytes bounds every other result: 102,400.
	ResultBytes int
	// ModelBytes bounds what the model reads of any result, with a window of 128,000 tokens
	// or more, and less in proportion with a smaller one: 30,720 in the profile "window"; 0
	// means that the window bounds nothing.
	ModelBytes int
	// StreamBytes bounds, in characters, what providers and modules print: 50,000
	// (R104).
	StreamBytes int
	// ConnectAsk is how long a connection of a command waits for the user's answer about
	// its host: 2 minutes; 0 is without end.
	ConnectAsk time.Duration
	// FilesPerCall bounds the files that one call changes: 100 (R104).
	FilesPerCall int
	// SearchCalls bounds the searches of a session: 25. SearchTimeout bounds
	// each: 15 s (R80).
	SearchCalls   int
	SearchTimeout time.Duration
	// SidecarBytes bounds all sidecars of a session: 1 GiB.
	SidecarBytes int64
	// Timeout is the time limit of tools that have one: 120 s. BashTimeout is
	// bash's: 0, none. BashDefault is that of a command which asks for none where
	// BashTimeout is 0.
	Timeout, BashTimeout, BashDefault time.Duration
	// Concurrent is how many calls run at once: 10.
	Concurrent int
	// Jobs is how many commands may run in the background at once: 32. JobAge is how long
	// each may: 24 hours. JobBytes is how much of the beginning of its output is kept in a
	// file: 16 MiB.
	Jobs     int
	JobAge   time.Duration
	JobBytes int64
	// Command bounds each command.
	Command CommandLimits
}

// CommandLimits bound the resources of one command and all of its processes. Zero
// leaves a resource without a bound.
type CommandLimits struct {
	// Memory bounds the processes of a command together, in bytes. ReadingMemory
	// does, and ReadingTimeout ends, a command that runs without a question
	// because it only reads: 2 GiB and 2 minutes.
	Memory, ReadingMemory uint64
	ReadingTimeout        time.Duration
	// Processes bounds the processes and threads of a command: 4,096.
	Processes uint64
	// FileSize bounds each file that a command writes: 32 GiB. Files bounds the
	// open files of each process: 65,536.
	FileSize, Files uint64
}

// Defaults of CommandLimits. That of Memory depends on the machine.
const (
	DefaultReadingMemory  = 2 << 30
	DefaultReadingTimeout = 2 * time.Minute
	DefaultProcesses      = 4096
	DefaultFileSize       = 32 << 30

	openFiles = 65_536
)

// CanonicalLimits are the limits that the requirements name; in the profile "window" they are ceilings.
func CanonicalLimits() Limits {
	return Limits{
		ReadBytes: 204_800, FileBytes: 10_000_000, GrepTotal: 200, GlobTotal: 1_000,
		BashBytes: 204_800, BashTail: 50_000, FetchBytes: 204_800, ResultBytes: 102_400,
		StreamBytes: 50_000, SidecarBytes: 1 << 30, FilesPerCall: 100,
		SearchCalls: 25, SearchTimeout: 15 * time.Second, ConnectAsk: 2 * time.Minute,
		Timeout: 120 * time.Second, Concurrent: 10,
		Jobs: 32, JobAge: 24 * time.Hour, JobBytes: 16 << 20,
		Command: CommandLimits{
			ReadingMemory: DefaultReadingMemory, ReadingTimeout: DefaultReadingTimeout,
			Processes: DefaultProcesses, FileSize: DefaultFileSize, Files: openFiles,
		},
	}
}

// AmpLimits are the figures of the limits profile "amp".
func AmpLimits() Limits {
	l := CanonicalLimits()
	l.ReadBytes, l.GrepTotal, l.FetchBytes, l.TailOnly = 65_536, 100, 262_144, true
	return l
}
