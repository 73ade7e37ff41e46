package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// A client that shows sessions of subagents gets the announcement of each on its parent's
// session, and the task and the text on the subagent's own. Calls stay on the session that the
// user prompts.
func TestChildSession(t *testing.T) {
	inTurn(t, client{subagents: true}, func(t *testing.T, tr *translator, r *recorder) {
		r.also = []string{"ses_explore", "ses_fix"}
		task := func(id string) transcript.UserSaid {
			return transcript.UserSaid{Message: &transcript.Message{ID: id, Parts: []transcript.Part{
				&transcript.TextPart{Text: "look"}, &transcript.TextPart{Text: "hidden", Synthetic: true},
			}}}
		}
		type sent struct{ Session, JSON string }
		take := func() (list []sent) {
			for _, n := range r.take() {
				list = append(list, sent{n.session, n.json})
			}
			return list
		}
		expect := func(what string, want []sent) {
			t.Helper()
			if diff := cmp.Diff(want, take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}

		explore := delegate(tr.Emit, "call_8", false, "explore")
		in1 := within(tr, "call_8")
		updates := take()
		if diff := cmp.Diff(sent{"ses_1", `{"sessionUpdate":"subagent_update","sessionId":"ses_explore","title":"explore","description":"look"}`}, updates[len(updates)-1]); diff != "" {
			t.Errorf("announcement (-want +got):\n%s", diff)
		}
		in1(transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_3"})
		in1(task("msg_3"))
		in1(transcript.StepStarted{MessageID: "msg_4"})
		in1(transcript.PartStarted{MessageID: "msg_4", PartID: "prt_4", Kind: transcript.ReasoningKind})
		in1(transcript.PartDelta{PartID: "prt_4", Text: "hm"})
		expect("its words", []sent{
			{"ses_1", `{"sessionUpdate":"subagent_update","sessionId":"ses_explore","state":{"state":"running"}}`},
			{"ses_explore", `{"sessionUpdate":"session_message","messageId":"msg_3","senderSessionId":"ses_1","recipientSessionId":"ses_explore","content":[{"type":"text","text":"look"}]}`},
			{"ses_explore", `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"},"messageId":"msg_4"}`},
		})

		fix := delegate(in1, "call_9", false, "explore", "fix")
		in2 := within(tr, "call_8", "call_9")
		in2(task("msg_5"))
		take()
		startBash(in2)
		in2(transcript.ToolState{CallID: "call_1", State: transcript.BlockedOnUser})
		in2(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
		endBash(in2, transcript.Done, "", `{}`)
		var states []sent
		for _, s := range take() {
			if s.Session != "ses_1" {
				states = append(states, s)
			}
		}
		if diff := cmp.Diff([]sent{
			{"ses_explore", `{"sessionUpdate":"subagent_update","sessionId":"ses_fix","state":{"state":"requires_action"}}`},
			{"ses_explore", `{"sessionUpdate":"subagent_update","sessionId":"ses_fix","state":{"state":"running"}}`},
		}, states); diff != "" {
			t.Errorf("states around a question (-want +got):\n%s", diff)
		}

		endChild(in1, fix, transcript.ChildFailed)
		in1(transcript.PartDelta{PartID: "prt_4", Text: "m"}) // it waits
		endChild(tr.Emit, explore, transcript.ChildCancelled)
		in1(transcript.PartDelta{PartID: "prt_4", Text: "late"})
		ends := take()
		if len(ends) != 5 {
			t.Fatalf("updates at the end: %q", ends)
		}
		want := []sent{
			{"ses_explore", `{"sessionUpdate":"subagent_update","sessionId":"ses_fix","state":{"state":"idle","stopReason":"error","error":{"code":-32603,"message":"why"}}}`},
			ends[1], // the card of the call
			{"ses_explore", `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"m"},"messageId":"msg_4"}`},
			{"ses_1", `{"sessionUpdate":"subagent_update","sessionId":"ses_explore","state":{"state":"idle","stopReason":"cancelled"}}`},
			ends[4],
		}
		if diff := cmp.Diff(want, ends); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

func TestClientOf_Subagents(t *testing.T) {
	if clientOf(schema.ClientCapabilities{}).subagents || !clientOf(schema.ClientCapabilities{Subagents: &schema.SubagentCapabilities{}}).subagents {
		t.Error("clientOf misreads whether the client announces the draft")
	}
}
