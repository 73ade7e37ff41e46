package app

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"acp-agent/config"
	"acp-agent/internal/redact"
)

// logger is the log of the process: in a file from when the configuration was read and says
// where, and on stderr from warnings on, unless the environment names a level. Secrets that
// are known never stand in it.
type logger struct {
	*slog.Logger
	level  slog.LevelVar // of the file
	shown  slog.LevelVar // of stderr
	stderr outlet
	disk   logFile
	file   outlet // of disk

	values redact.Values
}

// newLogger logs to stderr alone until configure.
func newLogger(stderr io.Writer) *logger {
	l := &logger{}
	l.stderr.write = func(record []byte) { _, _ = stderr.Write(record) } // an error could only be logged here
	l.file.write = l.disk.append
	l.shownFrom(slog.LevelWarn)
	l.Logger = l.at(&l.level)
	return l
}

// faultsAlone keeps warnings from stderr: editors show its text as a fault, and a session tells
// the user about warnings, with what can be done.
func (l *logger) faultsAlone() { l.shownFrom(slog.LevelError) }

// shownFrom sets the level of stderr, unless the environment does.
func (l *logger) shownFrom(level slog.Level) {
	if named, _ := config.System().LogLevel(); named != "" { // a misspelt level is reported by the first session
		level = config.Log{Level: named}.Slog()
	}
	l.shown.Set(level)
}

// at is a log whose file has the records of a level.
func (l *logger) at(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewMultiHandler(
		slog.NewTextHandler(l, &slog.HandlerOptions{Level: level, ReplaceAttr: l.redact}),
		slog.NewTextHandler(&l.stderr, &slog.HandlerOptions{Level: &l.shown, ReplaceAttr: l.redact}),
	))
}

// trace is the log of spans. It has no level: a setting of its own turns it on.
func (l *logger) trace() *slog.Logger { return l.at(slog.LevelDebug) }

// logName is the log's file in the state directory.
const logName = "acp-agent.log"

// configure sets level, file and secrets of the log by the configuration.
func (l *logger) configure(cfg *config.Config, stateDir string) {
	l.level.Set(cfg.Log.Slog())
	l.disk.use(cmp.Or(cfg.Log.File, filepath.Join(stateDir, logName)))
	l.redactValues(cfg.Secrets()...)
}

// redactValues keeps values out of the log from now on.
func (l *logger) redactValues(values ...string) { l.values.Add(values...) }

// redact takes secrets out of whatever is written as text, the message included:
// the values that are known, and what has the shape of a key (D3).
func (l *logger) redact(_ []string, a slog.Attr) slog.Attr {
	if kind := a.Value.Kind(); kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	text := a.Value.String()
	if clean := l.values.Text(text); clean != text {
		a.Value = slog.StringValue(clean)
	}
	return a
}

// Write takes a record for the file. It never waits for a disk.
func (l *logger) Write(record []byte) (int, error) {
	if l.disk.used() {
		l.file.put(record)
	}
	return len(record), nil
}

// flushWithin bounds how long an exit waits for the log.
const flushWithin = 100 * time.Millisecond

// flush waits for what was logged to be written, for a short time.
func (l *logger) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
	defer cancel()
	l.file.flush(ctx)
	l.stderr.flush(ctx)
}

// close closes the file; what is logged later is on stderr alone.
func (l *logger) close() {
	ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
	defer cancel()
	l.file.flush(ctx)
	l.disk.use("")
	l.file.put([]byte{}) // the writing goroutine closes the file
	l.file.flush(ctx)
	l.stderr.flush(ctx)
}
