package replay

import (
	"context"
	"fmt"
	"io"
	"time"

	"acp-agent/internal/pause"
	"acp-agent/internal/record"
)

const (
	// patience is how long the agent may take for what it did at once in the recording.
	patience = 10 * time.Second
	// longestGap bounds how much of the recorded time between two entries is added to patience: the
	// agent itself may have waited, for example before it asked a busy model again.
	longestGap = 2 * time.Minute
	// endTime is how long the agent may take to end.
	endTime = 10 * time.Second
	// handlingTime is how long the agent may take for a line before it reads the next one. Reading goes on
	// while a request is served.
	handlingTime = time.Second
	// lateWait is how long the replay waits, at the end, for frames that are not in the recording.
	lateWait = 50 * time.Millisecond
)

// Serve serves one connection until its input ends or ctx does. It calls onLine with each line,
// "in" or "out".
type Serve func(ctx context.Context, in io.Reader, out io.Writer, onLine func(dir string, line []byte)) error

// Result is the result of a replay.
type Result struct {
	// Frames is the number of lines that the agent sent as recorded.
	Frames int
	// Difference is the first difference; nil when there is none.
	Difference *record.Difference
	// Running says that the agent did not end with the replay, and was abandoned.
	Running bool
}

// Run replays a recording. It always returns: an agent that does not continue is a difference that names
// what was expected, and one that does not end is abandoned. Its error is that of ctx.
func Run(ctx context.Context, p *record.Player, serve Serve) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{player: p, matcher: newMatcher(p)}
	in, feed := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(ctx, &reader{Reader: in, handled: r.matcher.handled}, io.Discard, r.line) }()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		r.feed(ctx, feed)
	}()
	r.watch(ctx)
	difference := p.Progress().Difference
	interrupted := context.Cause(ctx)
	p.Stop()
	_ = in.Close()
	<-fed
	cancel()
	running := !endsWithin(served, endTime)
	if interrupted != nil && difference == nil {
		return Result{}, interrupted
	}
	return Result{Frames: r.matcher.count(), Difference: difference, Running: running}, nil
}

// endsWithin waits until serve has returned, and reports whether it did within limit.
func endsWithin(served <-chan error, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-served:
		return true
	case <-timer.C:
		return false
	}
}

type run struct {
	player  *record.Player
	matcher *matcher
}

// line gets each line of the connection.
func (r *run) line(dir string, line []byte) {
	if dir == "out" {
		r.matcher.sent(line)
	}
}

// reader is the input of the agent. When the agent reads again, it has handled what it read before.
type reader struct {
	io.Reader
	handled func()
	whole   bool // a whole line was read
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (n int, err error) {
	if r.whole {
		r.handled()
	}
	n, err = r.Reader.Read(p)
	r.whole = n > 0 && p[n-1] == '\n'
	return n, err
}

// feed passes the entries from outside to the agent, each at its place in the recording.
func (r *run) feed(ctx context.Context, to *io.PipeWriter) {
	defer to.Close()
	for i, e := range r.player.Entries {
		switch e.Kind {
		case record.In, record.InEnd, record.Happened:
		default:
			continue
		}
		if r.matcher.skipped(i) {
			continue
		}
		if r.player.Await(ctx, i) != nil {
			return
		}
		switch e.Kind {
		case record.In:
			r.matcher.passing(i)
			if _, err := to.Write(append(r.matcher.input(e.Data), '\n')); err != nil {
				return
			}
			r.awaitHandling(ctx, i)
		case record.InEnd:
			r.awaitStates(ctx)
			_ = to.Close()
			r.player.Finish(i)
		case record.Happened:
			r.player.Deliver(e)
			r.player.Finish(i)
		}
	}
	_ = r.player.Await(ctx, len(r.player.Entries)+1) // until the replay is over
}

// awaitHandling waits until the agent has handled a line, such as a cancel, before anything follows.
func (r *run) awaitHandling(ctx context.Context, i int) {
	handling, cancel := context.WithTimeout(ctx, handlingTime)
	defer cancel()
	_ = r.player.Await(handling, i+1) // else the agent answers the line before it reads on
	r.player.Finish(i)
}

// awaitStates waits until each state has its last recorded value. The agent sends states after a while, and none
// after the end of the input.
func (r *run) awaitStates(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, patience/2) // less than watch waits
	defer cancel()
	for r.matcher.stateDifference() != nil && waiting.Err() == nil {
		_ = pause.For(waiting, lateWait) // the loop sees its end
	}
}

// watch waits until the recording has been replayed, a difference is found, or the agent does not continue. It
// always returns: each wait has a limit, and only progress in the recording starts another one.
func (r *run) watch(ctx context.Context) {
	for {
		at := r.player.Progress()
		if at.Difference != nil {
			return
		}
		finished := at.First == len(r.player.Entries)
		wait := patience - time.Since(at.Since)
		switch {
		case !finished:
			wait += r.gap(at.First)
		case r.matcher.stateDifference() == nil:
			wait = lateWait
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-at.Changed:
		case <-timer.C:
			if r.player.Progress().First != at.First {
				break
			}
			if !finished {
				_ = r.player.Differ(r.missing(at.First, time.Since(at.Since)))
			} else if d := r.matcher.stateDifference(); d != nil {
				_ = r.player.Differ(*d)
			}
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// gap returns the recorded time between an entry and the one before it.
func (r *run) gap(i int) time.Duration {
	if i == 0 {
		return 0
	}
	ms := r.player.Entries[i].MS - r.player.Entries[i-1].MS
	return min(time.Duration(max(ms, 0))*time.Millisecond, longestGap)
}

// missing describes what the agent has not done, and how long the replay has waited for that.
func (r *run) missing(i int, waited time.Duration) record.Difference {
	e := r.player.Entries[i]
	d := record.Difference{Entry: i, Got: fmt.Sprintf("nothing for %d s", int(waited.Seconds()))}
	switch e.Kind {
	case record.Out:
		d.What, d.Want = "the agent does not send this", string(e.Data)
	case record.Requested:
		d.What, d.Want = "the agent does not ask the model", e.Name
	case record.Replied, record.Chunk, record.Ended:
		d.What, d.Want = "the agent does not read the model's answer to its end", string(e.Data)
	case record.Step, record.Returned:
		d.What, d.Want = "the agent does not make this call, or not to its end", e.Name
	default:
		d.What = "the agent does not take what comes next: " + string(e.Kind)
	}
	return d
}
