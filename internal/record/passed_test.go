package record

import (
	"context"
	"encoding/json"
	"testing"
)

// A call that does not run again asks nothing and makes no ids: the questions that follow have the
// answers that came after it. Ids that a prompt may have got meanwhile stay.
func TestCall_IsPassedOver(t *testing.T) {
	answer := func(key, data string) Entry {
		return Entry{Kind: Answered, Name: "project", Key: key, Data: json.RawMessage(data)}
	}
	for _, test := range []struct {
		name, nextID string
		meanwhile    Entry
	}{
		{"alone", "msg_3", answer("elsewhere", `"during"`)},
		{"beside a prompt", "msg_2", Entry{Kind: In, Data: json.RawMessage(`{}`)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tape := PlayFrom(NewPlayer(&Recording{Entries: []Entry{
				answer("dir", `"before"`), answer("elsewhere", `"before"`),
				{Kind: ID, Name: "msg", Key: "msg_1"},
				{Kind: Called, Of: 1, Name: "/trust", Key: digest(nil)},
				answer("dir", `"during"`), test.meanwhile,
				{Kind: ID, Name: "msg", Key: "msg_2"},
				{Kind: Returned, Of: 1},
				answer("dir", `"after"`),
				{Kind: ID, Name: "msg", Key: "msg_3"},
			}}))
			ask := func(key, want string) {
				t.Helper()
				if got := Value(tape, "project", key, func() string { return "asked" }); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
			id := func(want string) {
				t.Helper()
				if got := tape.ID("msg", func() string { return "fresh" }); got != want {
					t.Errorf("the id is %q, want %q", got, want)
				}
			}
			ask("dir", "before")
			ask("elsewhere", "before")
			id("msg_1")
			call, err := tape.Play(context.Background(), "/trust", "")
			if err != nil {
				t.Fatal(err)
			}
			call.SkipAnswers("dir")
			call.SkipIDs()
			ask("dir", "after")
			id(test.nextID)
			if test.meanwhile.Kind == Answered {
				ask("elsewhere", "during")
			}
		})
	}
}
