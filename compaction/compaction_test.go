package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"acp-agent/compaction"
	"acp-agent/model"
	"acp-agent/transcript"
)

func TestLimit(t *testing.T) {
	tests := []struct {
		name              string
		window, maxOutput int
		want              int
	}{
		{"a large window", 200_000, 0, 180_000},
		{"a short longest answer", 200_000, 8_000, 192_000},
		{"a long longest answer", 200_000, 64_000, 180_000},
		{"at most a quarter", 8_192, 0, 6_144},
		{"not known", 0, 8_000, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := compaction.Limit(tt.window, tt.maxOutput); got != tt.want {
				t.Errorf("Limit(%d, %d) = %d, want %d", tt.window, tt.maxOutput, got, tt.want)
			}
		})
	}
}

// talk is a conversation that a test builds.
type talk struct {
	log    *transcript.Log
	n      int
	events []transcript.Event
}

func newTalk() *talk { return &talk{log: transcript.NewLog()} }

func (c *talk) emit(e transcript.Event) {
	c.log.Apply(e)
	c.events = append(c.events, e)
}

func (c *talk) id(prefix string) string {
	c.n++
	return fmt.Sprintf("%s%d", prefix, c.n)
}

func (c *talk) user(text string) string {
	id := c.id("u")
	c.emit(transcript.UserSaid{Message: &transcript.Message{ID: id, Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: text}}}})
	return id
}

// step is an answer with calls whose results have these sizes.
func (c *talk) step(usage int, results ...int) string {
	id := c.id("a")
	c.emit(transcript.StepStarted{MessageID: id, Model: "m"})
	calls := make([]string, len(results))
	for i := range results {
		calls[i] = c.id("c")
		c.emit(transcript.ToolStarted{MessageID: id, CallID: calls[i], Name: "read", Tool: "read"})
	}
	end := transcript.StepFinished{MessageID: id}
	if usage > 0 {
		end.Usage = &transcript.Usage{Input: usage}
	}
	c.emit(end)
	for i, size := range results {
		c.emit(transcript.ToolFinished{
			CallID: calls[i], State: transcript.Done, Text: strings.Repeat("x", size),
			Result: transcript.Envelope{Metadata: transcript.Metadata{TrackFiles: []string{"/p/" + id}}},
		})
	}
	return id
}

func (c *talk) answer(text string) {
	id := c.id("a")
	c.emit(transcript.StepStarted{MessageID: id, Model: "m"})
	c.emit(transcript.PartStarted{MessageID: id, PartID: id + "p"})
	c.emit(transcript.PartDelta{PartID: id + "p", Text: text})
	c.emit(transcript.PartEnded{PartID: id + "p"})
	c.emit(transcript.StepFinished{MessageID: id})
}

func TestMeter_Fill(t *testing.T) {
	c := newTalk()
	meter := compaction.Meter{Fixed: 100}
	c.user(strings.Repeat("x", 300))
	if got := meter.Fill(c.log.Messages(), "m"); got != 100+8+100 {
		t.Errorf("with nothing counted, %d", got)
	}
	c.step(500, 300)
	if got := meter.Fill(c.log.Messages(), "m"); got != 500+48+100 {
		t.Errorf("after an answer that the server counted, with its result, %d", got)
	}
	if got := meter.Fill(c.log.Messages(), "other"); got != 625+48+100 {
		t.Errorf("for another model, %d", got)
	}
	c.user(strings.Repeat("x", 30))
	if got := meter.Fill(c.log.Messages(), "m"); got != 500+48+100+8+10 {
		t.Errorf("with a prompt after it, %d", got)
	}
	c.step(1, 30_000)
	if got, whole := meter.Fill(c.log.Messages(), "m"), meter.Estimate(c.log.Messages()); got < whole/2 {
		t.Errorf("where the server counts too little, %d of an estimate of %d", got, whole)
	}
	fresh := compaction.Meter{Fixed: 100}
	if got, want := meter.Estimate(c.log.Messages()), fresh.Estimate(c.log.Messages()); got != want {
		t.Errorf("estimated in pieces %d, at once %d", got, want)
	}
}

// job compacts the conversation at a fill that is above a limit.
func (c *talk) job(window int, writers ...compaction.Writer) *compaction.Job {
	meter := compaction.Meter{Fixed: 100}
	return &compaction.Job{
		Log: c.log, IDs: &transcript.IDs{}, Emit: c.emit, Writers: writers,
		Fixed: 100, Fill: meter.Estimate(c.log.Messages()), Limit: compaction.Limit(window, 0), Window: window,
	}
}

func writes(text string) compaction.Writer {
	return compaction.Writer{Model: "writer", Write: func(context.Context, string) (string, error) { return text, nil }}
}

func (c *talk) compaction(t *testing.T) *transcript.Message {
	t.Helper()
	done, ok := c.events[len(c.events)-1].(transcript.Compacted)
	if !ok {
		t.Fatalf("the last event is %T", c.events[len(c.events)-1])
	}
	return done.Message
}

// Results are taken out first, the oldest and largest first, and no more than is needed.
func TestJob_PrunesFirst(t *testing.T) {
	c := newTalk()
	c.user("go")
	c.step(0, 9_000, 600) // c3, c4
	c.step(0, 300)        // c6
	c.step(0, 6_000)      // c8
	for range 3 {
		c.step(0, 600)
	}
	asked := false
	after, err := c.job(7_600, compaction.Writer{Write: func(context.Context, string) (string, error) {
		asked = true
		return "", nil
	}}).Run(t.Context())
	if err != nil || asked {
		t.Fatalf("error %v, the writer was asked: %v", err, asked)
	}
	got := c.compaction(t).Compaction
	if got.Summary || !slices.Equal(got.Pruned, []string{"c3"}) || got.After != after || after > 3_500 {
		t.Errorf("the compaction is %+v", got)
	}
}

func TestJob_Summary(t *testing.T) {
	c := newTalk()
	c.user("build it, never touch x.go")
	c.step(0, 3_000)
	c.answer(strings.Repeat("old ", 1_000))
	c.user("now the tests")
	c.answer(strings.Repeat("new ", 1_000))
	c.emit(transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "write tests", Status: "pending"}}})
	prompt := c.user("go on")
	before := c.log.Messages()
	if _, err := c.job(4_096, writes("SUMMARY")).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := c.compaction(t)
	for _, want := range []string{"<summary>\nSUMMARY\n</summary>", "> build it, never touch x.go\n> now the tests\n", "- [pending] write tests", "Files changed so far: /p/a2"} {
		if !strings.Contains(m.Text(), want) {
			t.Errorf("there is no %q in\n%s", want, m.Text())
		}
	}
	if !slices.Equal(m.Compaction.Keep, []string{prompt}) {
		t.Errorf("kept are %q, want the prompt %s alone", m.Compaction.Keep, prompt)
	}
	if got := c.log.Record(); len(got) != len(before)+1 {
		t.Errorf("the record has %d messages of %d", len(got), len(before))
	}
}

// What the user said goes from one summary into the next.
func TestJob_WordsOutliveSummaries(t *testing.T) {
	c := newTalk()
	for i := range 3 {
		c.user(fmt.Sprintf("wish %d", i))
		c.answer(strings.Repeat("text ", 2_000))
		job := c.job(8_192, writes("SUMMARY"))
		job.Manual = true
		if _, err := job.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if text := c.compaction(t).Text(); !strings.Contains(text, "> wish 0\n> wish 1\n> wish 2\n") {
		t.Errorf("the last summary is\n%s", text)
	}
	if got := c.log.Messages(); len(got) != 1 {
		t.Errorf("the model sees %d messages, want the summary alone", len(got))
	}
}

// The ladder: a record that is too long is halved, then the next writer is asked, and then no
// model. Each step is said.
func TestJob_Ladder(t *testing.T) {
	overflow := &model.Error{Kind: model.Overflow, Message: "too long"}
	broken := &model.Error{Kind: model.Invalid, Message: "broken"}
	fails := func(name string, err error) compaction.Writer {
		return compaction.Writer{Model: name, Write: func(context.Context, string) (string, error) { return "", err }}
	}
	sizes := []int{}
	halved := compaction.Writer{Model: "small", Window: 2_000, Write: func(_ context.Context, record string) (string, error) {
		if sizes = append(sizes, len(record)); len(sizes) == 1 {
			return "", overflow
		}
		return "SHORT", nil
	}}
	tests := []struct {
		name    string
		writers []compaction.Writer
		summary string
		said    []string
	}{
		{"the first", []compaction.Writer{writes("ONE")}, "ONE", nil},
		{"halved", []compaction.Writer{halved}, "SHORT", []string{"too long. Asking again with half"}},
		{"the second", []compaction.Writer{fails("slot", broken), writes("TWO")}, "TWO", []string{"broken. Asking writer for it"}},
		{
			"nothing written",
			[]compaction.Writer{fails("slot", nil), fails("main", broken)},
			"No model could write a summary",
			[]string{"wrote nothing. Asking main", "broken. The agent goes on with your own words"},
		},
		{"no writer", nil, "No model could write a summary", []string{"no model is there to write it. The agent goes on"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newTalk()
			c.user("the task")
			c.answer(strings.Repeat("text ", 3_000))
			c.user("go on")
			if _, err := c.job(4_096, tt.writers...).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			text := c.compaction(t).Text()
			if !strings.Contains(text, tt.summary) || !strings.Contains(text, "> the task") {
				t.Errorf("the summary is\n%s", text)
			}
			var said []string
			for _, e := range c.events {
				if notice, ok := e.(transcript.Notice); ok {
					said = append(said, notice.Text)
				}
			}
			for i, want := range tt.said {
				if i >= len(said) || !strings.Contains(said[i], want) {
					t.Fatalf("the user is told %q, want %q", said, tt.said)
				}
			}
			if len(said) != len(tt.said) {
				t.Errorf("the user is told %q, want %q", said, tt.said)
			}
		})
	}
	if len(sizes) != 2 || sizes[1] > sizes[0]*2/3 {
		t.Errorf("the records had %v bytes", sizes)
	}
}

// The user who asks for a summary gets one, or keeps the conversation.
func TestJob_ManualFails(t *testing.T) {
	c := newTalk()
	c.user("the task")
	c.answer("done")
	before := c.log.Messages()
	job := c.job(8_192)
	job.Manual = true
	if _, err := job.Run(t.Context()); err == nil {
		t.Error("it succeeded without a writer")
	}
	if end, ok := c.events[len(c.events)-1].(transcript.CompactionFailed); !ok || end.Cancelled {
		t.Errorf("the last event is %#v", c.events[len(c.events)-1])
	}
	if !slices.Equal(before, c.log.Messages()) {
		t.Error("the conversation was changed")
	}
}

func TestJob_Cancelled(t *testing.T) {
	c := newTalk()
	c.user("the task")
	c.answer(strings.Repeat("text ", 3_000))
	c.user("go on")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.job(4_096, compaction.Writer{Write: func(ctx context.Context, _ string) (string, error) {
		cancel()
		return "", ctx.Err()
	}}).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if end, ok := c.events[len(c.events)-1].(transcript.CompactionFailed); !ok || !end.Cancelled {
		t.Errorf("the last event is %#v", c.events[len(c.events)-1])
	}
}

func TestJob_Nothing(t *testing.T) {
	c := newTalk()
	c.user(strings.Repeat("long ", 4_000))
	if _, err := c.job(4_096, writes("x")).Run(t.Context()); !errors.Is(err, compaction.ErrNothing) {
		t.Errorf("of a prompt alone: %v", err)
	}
	if len(c.events) != 1 {
		t.Errorf("the user was shown %v", c.events[1:])
	}
}

// What the user wants kept is said to the writer, and so is what was said before.
func TestJob_Record(t *testing.T) {
	c := newTalk()
	c.user("look at it")
	c.step(0, 5_000)
	c.answer("It is long.")
	var record string
	job := c.job(8_192, compaction.Writer{Write: func(_ context.Context, text string) (string, error) {
		record = text
		return "x", nil
	}})
	job.Manual, job.Words = true, "the names of the files"
	if _, err := job.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"User: look at it\n", "Tool read, done: ", "Its result:\nxxx", "[…]", "Agent: It is long.\n", "keeps in particular: the names of the files"} {
		if !strings.Contains(record, want) {
			t.Errorf("there is no %q in\n%s", want, record)
		}
	}
	if len(record) > 2_000 {
		t.Errorf("the record has %d bytes", len(record))
	}
}
