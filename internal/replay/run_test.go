package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/record"
)

const (
	prompt   = `{"id":1,"method":"session/prompt","params":{"sessionId":"s"}}`
	answered = `{"id":1,"result":{"stopReason":"end_turn"}}`
	title    = `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"again"}}}`
)

// oneTurn is a recording of a prompt and its answer, which came after a time.
func oneTurn(after time.Duration) *record.Player {
	return record.NewPlayer(&record.Recording{Entries: []record.Entry{
		{Kind: record.In, Data: json.RawMessage(prompt)},
		{Kind: record.Out, Data: json.RawMessage(answered), MS: after.Milliseconds()},
		{Kind: record.InEnd, MS: after.Milliseconds()},
	}})
}

// A replay ends whatever the agent does, and says what it waited for.
func TestRun_AlwaysEnds(t *testing.T) {
	tests := []struct {
		name    string
		took    time.Duration // the answer, when it was recorded
		agent   func(ctx context.Context, send func(line string))
		end     func(ctx context.Context)
		within  time.Duration
		differs string
		running bool
	}{
		{name: "answers", agent: func(_ context.Context, send func(string)) { send(answered) }, within: time.Second},
		{name: "takes its time as before", took: 30 * time.Second, within: 31 * time.Second, agent: func(_ context.Context, send func(string)) {
			time.Sleep(30 * time.Second)
			send(answered)
		}},
		{name: "says nothing", agent: func(context.Context, func(string)) {}, within: patience + time.Second, differs: "nothing for 10 s"},
		{
			name: "says nothing of what took a day", took: 24 * time.Hour, agent: func(context.Context, func(string)) {},
			within: longestGap + patience + time.Second, differs: "nothing for 130 s",
		},
		{name: "says something else for ever", within: handlingTime + patience + time.Second, differs: "nothing for 10 s", agent: func(ctx context.Context, send func(string)) {
			for ctx.Err() == nil {
				send(title)
				time.Sleep(time.Second)
			}
		}},
		{name: "does not end", within: endTime + time.Second, running: true, agent: func(_ context.Context, send func(string)) { send(answered) }, end: func(context.Context) {
			time.Sleep(time.Hour)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := oneTurn(test.took)
				start := time.Now()
				result, err := Run(t.Context(), p, func(ctx context.Context, in io.Reader, _ io.Writer, onLine func(string, []byte)) error {
					lines := bufio.NewScanner(in)
					for lines.Scan() {
						onLine("in", lines.Bytes())
						test.agent(ctx, func(line string) { onLine("out", []byte(line)) })
					}
					if test.end != nil {
						test.end(ctx)
					}
					return nil
				})
				if took := time.Since(start); took > test.within || err != nil {
					t.Errorf("it took %v, at most %v; %v", took, test.within, err)
				}
				d := result.Difference
				if (d != nil) != (test.differs != "") || d != nil && (d.Entry != 1 || d.Got != test.differs || !strings.Contains(d.Want, "end_turn")) {
					t.Errorf("the difference is %+v, want %q", d, test.differs)
				}
				if result.Running != test.running {
					t.Errorf("running: %v", result.Running)
				}
				time.Sleep(2 * time.Hour) // until the one that does not end has
			})
		})
	}
}
