package transcript_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// roundTrip returns a snapshot as it is read again after it was stored.
func roundTrip(t interface {
	Helper()
	Fatal(...any)
}, s transcript.Snapshot,
) (again transcript.Snapshot) {
	t.Helper()
	again.Messages = stored(t, s.Messages)
	data, err := json.Marshal(s.Memory)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &again.Memory); err != nil {
		t.Fatal(err)
	}
	return again
}

// stored returns messages as they are read again after they were stored.
func stored(t interface {
	Helper()
	Fatal(...any)
}, messages []*transcript.Message,
) []*transcript.Message {
	t.Helper()
	var read []*transcript.Message
	for _, m := range messages {
		data, err := transcript.EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := transcript.DecodeMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, again)
	}
	return read
}

// TestSnapshot_OpenQuestion is the data side of a restart: a question that
// waits (R75), the plan (R61), the count of searches (R80), the tools found
// (R87) and the hosts named are what they were.
func TestSnapshot_OpenQuestion(t *testing.T) {
	const input = `{"questions":[{"question":"Which <one>?","options":[{"label":"A"},{"label":"B"}]}]}`
	log := transcript.NewLog()
	for _, e := range []transcript.Event{
		transcript.UserSaid{Message: &transcript.Message{ID: "u", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "do it"}}}},
		transcript.StepStarted{MessageID: "a", Model: "m", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "ask", Priority: "high", Status: "in_progress"}, {Content: "do", Priority: "low", Status: "pending"}}},
		transcript.Counted{What: "web_search"},
		transcript.Counted{What: "web_search"},
		transcript.ToolsActivated{IDs: []string{"mcp__x__y"}},
		transcript.HostsNamed{Hosts: []string{"go.dev"}},
		transcript.ToolStarted{MessageID: "a", CallID: "c", Name: "question", Tool: "question"},
		transcript.StepFinished{MessageID: "a"},
		transcript.ToolReady{CallID: "c", Tool: "question", Input: input, Card: kinds.Card{Kind: kinds.Other, Title: "Which <one>?"}},
		transcript.ToolState{CallID: "c", State: transcript.BlockedOnUser},
	} {
		log.Apply(e)
	}
	before := transcript.Snapshot{Messages: log.Messages(), Memory: log.Memory()}
	got := roundTrip(t, before)

	if diff := cmp.Diff(before, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
	wantMemory := transcript.Memory{
		Plan:   []transcript.PlanEntry{{Content: "ask", Priority: "high", Status: "in_progress"}, {Content: "do", Priority: "low", Status: "pending"}},
		Counts: map[string]int{"web_search": 2}, Tools: []string{"mcp__x__y"}, Hosts: []string{"go.dev"},
	}
	if diff := cmp.Diff(wantMemory, got.Memory); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	asking := got.Messages[1]
	call := asking.Calls()[0]
	if call.State != transcript.BlockedOnUser || call.State.Terminal() || call.Input != input || call.Result != nil || asking.Finished {
		t.Errorf("the question is %+v, its message finished: %v", call, asking.Finished)
	}
}

func TestSnapshot_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := transcript.Snapshot{Messages: list(messages()).Draw(t, "messages")}
		for _, e := range list(memoryEvents()).Draw(t, "events") {
			want.Memory.Apply(e)
		}
		if diff := cmp.Diff(want, roundTrip(t, want), records); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// list makes short lists; an empty one is nil, as after decoding.
func list[T any](of *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.Map(rapid.SliceOfN(of, 0, 4), func(s []T) []T {
		if len(s) == 0 {
			return nil
		}
		return s
	})
}

func messages() *rapid.Generator[*transcript.Message] {
	return rapid.Custom(func(t *rapid.T) *transcript.Message {
		m := &transcript.Message{
			ID: rapid.String().Draw(t, "id"), Role: rapid.SampledFrom([]transcript.Role{transcript.User, transcript.Assistant}).Draw(t, "role"),
			Created: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC(),
			Parts:   list(parts()).Draw(t, "parts"), Finished: rapid.Bool().Draw(t, "finished"),
			Synthetic: rapid.Bool().Draw(t, "synthetic"),
		}
		if rapid.Bool().Draw(t, "used") {
			m.Usage = &transcript.Usage{Input: rapid.Int().Draw(t, "input"), Output: rapid.Int().Draw(t, "output")}
		}
		return m
	})
}

func parts() *rapid.Generator[transcript.Part] {
	text := rapid.String()
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) transcript.Part {
			return &transcript.TextPart{ID: text.Draw(t, "id"), Text: text.Draw(t, "text"), Synthetic: rapid.Bool().Draw(t, "synthetic"), Replaced: rapid.Bool().Draw(t, "replaced")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Part {
			return &transcript.ReasoningPart{ID: text.Draw(t, "id"), Text: text.Draw(t, "text")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Part {
			return &transcript.ImagePart{MediaType: text.Draw(t, "type"), Data: text.Draw(t, "data"), URI: text.Draw(t, "uri")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Part {
			return &transcript.LinkPart{URI: text.Draw(t, "uri"), Name: text.Draw(t, "name"), Size: rapid.Int64().Draw(t, "size")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Part {
			return &transcript.ResourcePart{URI: text.Draw(t, "uri"), Text: text.Draw(t, "text")}
		}),
		rapid.Custom(openQuestion), rapid.Custom(toolCall), rapid.Custom(spawning),
	)
}

// spawning is a tool call in any state with a subagent in any state, which may have
// others below it.
func spawning(t *rapid.T) transcript.Part {
	states := []transcript.ChildState{
		transcript.ChildQueued, transcript.ChildRunning, transcript.ChildDone, transcript.ChildFailed, transcript.ChildCancelled, transcript.ChildLost,
	}
	record := transcript.ChildRecord{
		ID: rapid.String().Draw(t, "id"), Agent: rapid.String().Draw(t, "agent"), Path: list(rapid.String()).Draw(t, "path"),
		Background: rapid.Bool().Draw(t, "background"), Inspectable: rapid.Bool().Draw(t, "inspectable"),
		State: rapid.SampledFrom(states).Draw(t, "child"), Note: rapid.String().Draw(t, "note"),
	}
	var below []*transcript.Message
	if !record.Inspectable && rapid.Bool().Draw(t, "has messages") {
		below = list(messages()).Draw(t, "below")
	}
	return &transcript.ToolPart{
		CallID: rapid.String().Draw(t, "call"), Tool: "task", State: rapid.SampledFrom(transcript.States()).Draw(t, "state"),
		Child: transcript.NewChild(record, transcript.NewLog(below...)),
	}
}

// openQuestion is a question in a state that is not terminal (R75).
func openQuestion(t *rapid.T) transcript.Part {
	input, err := json.Marshal(map[string]any{"questions": []map[string]string{{"question": rapid.String().Draw(t, "question")}}})
	if err != nil {
		t.Fatal(err)
	}
	state := rapid.SampledFrom([]transcript.State{transcript.Queued, transcript.BlockedOnUser, transcript.InProgress}).Draw(t, "state")
	return &transcript.ToolPart{CallID: rapid.String().Draw(t, "call"), Name: "question", Tool: "question", Input: string(input), State: state}
}

func toolCall(t *rapid.T) transcript.Part {
	data, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "data"))
	if err != nil {
		t.Fatal(err)
	}
	contents := rapid.Custom(func(t *rapid.T) kinds.Content {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		return rapid.SampledFrom([]kinds.Content{
			kinds.Text{Text: a},
			kinds.Image{MediaType: a, Data: b},
			kinds.Terminal{ID: a},
			kinds.Diff{Path: a, New: b},
			kinds.Diff{Path: a, Old: &b, New: a},
		}).Draw(t, "content")
	})
	return &transcript.ToolPart{
		CallID: rapid.String().Draw(t, "call"), Name: rapid.String().Draw(t, "name"), Input: rapid.String().Draw(t, "input"),
		State: rapid.SampledFrom([]transcript.State{transcript.Done, transcript.Failed, transcript.Cancelled, transcript.Rejected}).Draw(t, "state"),
		Card:  kinds.Card{Title: rapid.String().Draw(t, "title"), Content: list(contents).Draw(t, "contents")},
		Result: &transcript.Envelope{
			Type: transcript.Output, Data: data,
			Metadata: transcript.Metadata{DurationMS: rapid.Int64().Draw(t, "ms"), TrackFiles: list(rapid.String()).Draw(t, "files")},
		},
		Text: rapid.String().Draw(t, "text"),
	}
}

func memoryEvents() *rapid.Generator[transcript.Event] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) transcript.Event {
			return transcript.PlanChanged{Entries: list(rapid.Custom(func(t *rapid.T) transcript.PlanEntry {
				return transcript.PlanEntry{Content: rapid.String().Draw(t, "content"), Status: rapid.String().Draw(t, "status")}
			})).Draw(t, "plan")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Event {
			return transcript.Counted{What: rapid.SampledFrom([]string{"web_search", ""}).Draw(t, "what")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Event {
			return transcript.ToolsActivated{IDs: list(rapid.String()).Draw(t, "ids")}
		}),
		rapid.Custom(func(t *rapid.T) transcript.Event {
			return transcript.HostsNamed{Hosts: list(rapid.String()).Draw(t, "hosts")}
		}),
	)
}
