package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"acp-agent/internal/record"
)

const (
	// patience is how long the agent may take for what it did at once when it was recorded.
	patience = 10 * time.Second
	// longestGap bounds how much of the time between two recorded entries may pass again: the
	// agent's own waits, such as before it asks a busy model once more. What comes from outside
	// comes at once.
	longestGap = 2 * time.Minute
	// endTime is how long the agent may take to end.
	endTime = 10 * time.Second
	// settleTime is how long what the recording does not have is waited for at its end.
	settleTime = 50 * time.Millisecond
)

// Serve serves one connection until its input ends or ctx does. It calls onLine with each line,
// "in" or "out".
type Serve func(ctx context.Context, in io.Reader, out io.Writer, onLine func(dir string, line []byte)) error

// Result is what came of a replay.
type Result struct {
	// Frames is how many lines the agent sent that the recording has.
	Frames int
	// Difference is the first difference; nil when there is none.
	Difference *record.Difference
	// Running says that the agent did not end when the replay was over, and is left alone.
	Running bool
}

// Run plays a recording. It always comes to an end: an agent that does not go on is a difference
// that names what was waited for, and one that does not end is left alone. Its error is that of ctx.
func Run(ctx context.Context, p *record.Player, serve Serve) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{player: p, frames: newFrames(p)}
	in, feed := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(ctx, in, io.Discard, r.line) }()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		r.feed(ctx, feed)
	}()
	r.watch(ctx)
	_, _, _, difference := p.State()
	interrupted := context.Cause(ctx)
	p.Stop()
	_ = in.Close()
	<-fed
	cancel()
	running := !endsWithin(served, endTime)
	if interrupted != nil && difference == nil {
		return Result{}, interrupted
	}
	return Result{Frames: r.frames.count(), Difference: difference, Running: running}, nil
}

// endsWithin waits for the end of what serves.
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
	player *record.Player
	frames *frames
}

// line sees each line of the connection.
func (r *run) line(dir string, line []byte) {
	switch dir {
	case "out":
		r.frames.sent(line)
	case "in":
		r.frames.received()
	}
}

// feed hands the agent what came from outside, each where it stands in the recording.
func (r *run) feed(ctx context.Context, to *io.PipeWriter) {
	defer to.Close()
	for i, e := range r.player.Entries {
		switch e.Kind {
		case record.In, record.InEnd, record.Happened:
		default:
			continue
		}
		if r.frames.skipped(i) {
			continue
		}
		if r.player.Await(ctx, i) != nil {
			return
		}
		switch e.Kind {
		case record.In:
			r.frames.next = i
			if _, err := to.Write(append(r.frames.incoming(e.Data), '\n')); err != nil {
				return
			}
			if r.player.Await(ctx, i+1) != nil {
				return
			}
		case record.InEnd:
			_ = to.Close()
			r.player.Finish(i)
		case record.Happened:
			r.player.Happen(e)
			r.player.Finish(i)
		}
	}
	_ = r.player.Await(ctx, len(r.player.Entries)+1) // until the replay is over
}

// watch waits until the recording has been played, or differs, or does not go on. It ends, for
// each wait has a limit, and only what the recording has begins another one.
func (r *run) watch(ctx context.Context) {
	for {
		first, since, moved, difference := r.player.State()
		if difference != nil {
			return
		}
		over := first == len(r.player.Entries)
		wait := patience - time.Since(since)
		switch {
		case !over:
			wait += r.gap(first)
		case r.frames.unequal() == nil:
			wait = settleTime
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-moved:
		case <-timer.C:
			if now, _, _, _ := r.player.State(); now != first {
				break
			}
			if !over {
				_ = r.player.Differ(r.missing(first, time.Since(since)))
			} else if d := r.frames.unequal(); d != nil {
				_ = r.player.Differ(*d)
			}
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// gap is how long an entry came after the one before it.
func (r *run) gap(i int) time.Duration {
	if i == 0 {
		return 0
	}
	ms := r.player.Entries[i].MS - r.player.Entries[i-1].MS
	return min(time.Duration(max(ms, 0))*time.Millisecond, longestGap)
}

// missing says what the agent has not done, and how long that was waited for.
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

// Explain prints a difference: where it is, and both sides around the place.
func Explain(r *record.Recording, d *record.Difference) string {
	var b bytes.Buffer
	at := min(d.Entry, len(r.Entries)-1)
	frame := 0
	for _, e := range r.Entries[:at+1] {
		if e.Kind == record.Out {
			frame++
		}
	}
	fmt.Fprintf(&b, "Difference at frame %d, line %d of the recording, %.3f s after its start: %s\n",
		frame, at+2, float64(r.Entries[at].MS)/1000, d.What)
	if d.Path != "" {
		fmt.Fprintf(&b, "  at        %s\n", d.Path)
	}
	want, got := around(d.Want, d.Got)
	fmt.Fprintf(&b, "  recorded  %s\n", want)
	fmt.Fprintf(&b, "  now       %s\n", got)
	return b.String()
}

const (
	shownBefore = 40
	shownAfter  = 160
)

// around cuts two texts to the place in which they differ.
func around(a, b string) (string, string) {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	from := max(0, same-shownBefore)
	return excerpt(a, from, same), excerpt(b, from, same)
}

func excerpt(text string, from, same int) string {
	to := min(len(text), same+shownAfter)
	cut := string(bytes.ToValidUTF8([]byte(text[from:to]), []byte("�")))
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	if cut == "" {
		return "nothing"
	}
	quoted, err := json.Marshal(cut)
	if err != nil {
		return cut
	}
	return string(quoted[1 : len(quoted)-1])
}
