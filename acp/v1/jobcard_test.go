package v1

import (
	"strings"
	"testing"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// answeredJob ends the call of a job that goes on.
func answeredJob(emit func(transcript.Event)) {
	emit(transcript.ToolFinished{
		CallID: "call_1", State: transcript.Done, Background: true, Text: "ready",
		Card:   kinds.Card{Kind: kinds.Execute, Title: "make", Content: []kinds.Content{kinds.Text{Text: "started in the background as job_1"}}},
		Result: transcript.Envelope{Type: transcript.Output, Data: []byte(`{"job":"job_1"}`)},
	})
}

// The card of a job stays open after its call and its turn, with the output, until the job ends;
// how it ended stands in the title.
func TestJobCard(t *testing.T) {
	tests := []struct {
		name   string
		client client
		end    transcript.JobEnded
		want   []string // of each update after the turn
	}{
		{
			"text in the card",
			client{},
			transcript.JobEnded{CallID: "call_1", State: "exited", ExitCode: 3},
			[]string{`later`, `"status":"completed","title":"make (exit 3)","content":[{"type":"content","content":{"type":"text","text":"` + "```console\\nready\\nlater\\n```\\n\\nexit 3"},
		},
		{
			"a signal",
			client{},
			transcript.JobEnded{CallID: "call_1", State: "exited", ExitCode: 137, Signal: "SIGKILL"},
			[]string{`later`, `"title":"make (killed by SIGKILL)"`},
		},
		{
			"as it should",
			client{},
			transcript.JobEnded{CallID: "call_1", State: "exited"},
			[]string{`later`, `\n\nit has ended`},
		},
		{
			"a terminal of ours",
			client{agentTerminals: true},
			transcript.JobEnded{CallID: "call_1", State: "stopped"},
			[]string{`"terminal_output":{"data":"later\n"`, `"terminal_output":{"data":"[stopped]\n"`, `"terminal_exit":{"exit_code":null,"signal":null,"terminal_id":"call_1"}`},
		},
		{
			"a terminal of ours, with a code",
			client{agentTerminals: true},
			transcript.JobEnded{CallID: "call_1", State: "exited", ExitCode: 2, Signal: "SIGTERM"},
			[]string{`later`, `[killed by SIGTERM]`, `"terminal_exit":{"exit_code":2,"signal":"SIGTERM"`},
		},
		{
			"an editor that drops what comes between turns",
			client{traits: traits{dropsBetweenTurns: true}},
			transcript.JobEnded{CallID: "call_1", State: "exited"},
			nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, test.client, func(t *testing.T, tr *translator, r *recorder) {
				startBash(tr.Emit)
				tr.Emit(transcript.JobOutput{CallID: "call_1", Text: "ready\n"})
				answeredJob(tr.Emit)
				r.take()
				tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
				time.Sleep(time.Second)
				r.take()
				tr.Emit(transcript.JobOutput{CallID: "call_1", Text: "later\n"})
				time.Sleep(time.Second)
				tr.Emit(test.end)
				tr.Emit(test.end)
				tr.Emit(transcript.JobOutput{CallID: "call_1", Text: "never\n"})
				time.Sleep(time.Second)
				got := r.lines()
				if len(got) != len(test.want) {
					t.Fatalf("updates after the turn: %q", got)
				}
				for i, want := range test.want {
					if !strings.Contains(got[i], want) {
						t.Errorf("update %d lacks %s: %s", i, want, got[i])
					}
				}
				if n := len(tr.cards.calls); n != 0 {
					t.Errorf("%d views are kept", n)
				}
			})
		})
	}
}

// A job that ends before its call was answered closes the card with the answer.
func TestJobCard_EndsFirst(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startBash(tr.Emit)
		r.take()
		tr.Emit(transcript.JobEnded{CallID: "call_1", State: "expired"})
		answeredJob(tr.Emit)
		got := r.lines()
		if len(got) != 2 || !strings.Contains(got[1], `"status":"completed","title":"make (expired)"`) {
			t.Errorf("updates: %q", got)
		}
	})
}

// The card of a job shows on which ports it listens, from the answer of its call to the end of the
// job: beside the output or the terminal, and in the data of the result.
func TestJobCard_Ports(t *testing.T) {
	inside := []kinds.Port{{Number: 5173, Inside: true}}
	open := []kinds.Port{{Number: 5173, Inside: true, Open: 8080}}
	const line, opened = "It listens on port 5173 in the sandbox; `/jobs forward 5173` opens it on this machine.", "open on this machine at 127.0.0.1:8080."
	const terminal = `"content":[{"type":"terminal","terminalId":"call_1"},{"type":"content","content":{"type":"text","text":"`
	tests := []struct {
		name   string
		client client
		want   [][]string // of each update after the answer
	}{
		{"text in the card", client{}, [][]string{
			{"```console\\nready\\n```\\n\\n" + line, `"rawOutput":{"type":"output","data":{"job":"job_1","ports":[5173]}`},
			{"```console\\nready\\n```\\n\\nIt listens on port 5173 in the sandbox, " + opened, "-rawOutput"},
			{"```console\\nready\\nlater\\n```\\n\\nIt listens on port 5173 in the sandbox, " + opened, "-rawOutput"},
			{"```console\\nready\\nlater\\n```\"", `"data":{"job":"job_1"}`},
			{line, `"ports":[5173]`},
			{`"status":"completed"`, "\\n\\nstopped\"", `"data":{"job":"job_1"}`},
		}},
		{"a terminal of ours", client{agentTerminals: true}, [][]string{
			{terminal + line, "-rawOutput"},
			{terminal + "It listens on port 5173 in the sandbox, " + opened},
			{`"terminal_output":{"data":"later\n"`, "-content"},
			{`"content":[{"type":"terminal","terminalId":"call_1"}]`, "-rawOutput"},
			{terminal + line},
			{`"terminal_output":{"data":"[stopped]\n"`},
			{`"status":"completed"`, `"content":[{"type":"terminal","terminalId":"call_1"}]`},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, test.client, func(t *testing.T, tr *translator, r *recorder) {
				startBash(tr.Emit)
				tr.Emit(transcript.JobOutput{CallID: "call_1", Text: "ready\n"})
				time.Sleep(time.Second)
				answeredJob(tr.Emit)
				time.Sleep(time.Second)
				r.take()
				for _, ports := range [][]kinds.Port{inside, open} {
					tr.Emit(transcript.JobListens{CallID: "call_1", Ports: ports})
				}
				time.Sleep(time.Second)
				tr.Emit(transcript.JobOutput{CallID: "call_1", Text: "later\n"})
				time.Sleep(time.Second)
				tr.Emit(transcript.JobListens{CallID: "call_1"})
				tr.Emit(transcript.JobListens{CallID: "call_1", Ports: inside})
				tr.Emit(transcript.JobListens{CallID: "call_2", Ports: inside})
				tr.Emit(transcript.JobEnded{CallID: "call_1", State: "stopped"})
				got := r.lines()
				if len(got) != len(test.want) {
					t.Fatalf("%d updates: %s", len(got), strings.Join(got, "\n"))
				}
				for i, want := range test.want {
					for _, part := range want {
						lacks, has := strings.CutPrefix(part, "-")
						if strings.Contains(got[i], lacks) == has {
							t.Errorf("update %d, %q: %s", i, part, got[i])
						}
					}
				}
			})
		})
	}
}

// A port that is seen before the call is answered is shown with the answer.
func TestJobCard_PortFirst(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startBash(tr.Emit)
		r.take()
		tr.Emit(transcript.JobListens{CallID: "call_1", Ports: []kinds.Port{{Number: 80}}})
		if got := r.lines(); len(got) != 0 {
			t.Errorf("before the answer: %q", got)
		}
		answeredJob(tr.Emit)
		got := r.lines()
		if len(got) != 1 || !strings.Contains(got[0], `It runs in the background.\n\nIt listens on port 80 of this machine.`) || !strings.Contains(got[0], `"ports":[80]`) {
			t.Errorf("with the answer: %q", got)
		}
	})
}
