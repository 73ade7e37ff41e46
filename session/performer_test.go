package session

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// askerFunc is a user who answers with a function.
type askerFunc func(tools.PermissionRequest) (tools.Answer, error)

func (f askerFunc) Ask(_ context.Context, request tools.PermissionRequest) (tools.Answer, error) {
	return f(request)
}

// newTestPerformer returns a performer whose user answers, with what the client is shown and asked.
func newTestPerformer(tape *record.Tape, answer tools.Answer) (p *performer, shown *[]transcript.Event, asked *[]string) {
	c, shown := newTestConversation()
	asked = new([]string)
	return &performer{
		conversation: c, tape: tape, logger: slog.New(slog.DiscardHandler),
		asker: askerFunc(func(r tools.PermissionRequest) (tools.Answer, error) {
			*asked = append(*asked, r.Choices.Question)
			return answer, nil
		}),
	}, shown, asked
}

func deleteQuestion() commandQuestion {
	return commandQuestion{
		command: "clean", offers: true,
		card:    kinds.Card{Kind: kinds.Other, Title: "Clean up", Content: []kinds.Content{kinds.Text{Text: "all of it"}}},
		choices: tools.Choices{Question: "Delete it?", Allow: "Delete", Reject: "Keep"},
		onAnswer: func(answer tools.Answer, _ error) (string, transcript.State) {
			if answer == tools.AllowOnce {
				return "It is deleted.", transcript.Done
			}
			return "It is kept.", transcript.Rejected
		},
	}
}

// R148: the card of a command's question ends with what was decided, and stays in the record.
func TestPerformer_Ask(t *testing.T) {
	for _, tt := range []struct {
		answer  tools.Answer
		text    string
		state   transcript.State
		content int
	}{
		{tools.AllowOnce, "It is deleted.", transcript.Done, 1},
		{tools.RejectOnce, "It is kept.", transcript.Rejected, 0},
	} {
		p, shown, asked := newTestPerformer(nil, tt.answer)
		if text := p.ask(t.Context(), deleteQuestion()); text != tt.text || len(*asked) != 1 {
			t.Errorf("it says %q after the questions %q", text, *asked)
		}
		end, ok := (*shown)[len(*shown)-1].(transcript.ToolFinished)
		if !ok || end.State != tt.state || len(end.Card.Content) != tt.content {
			t.Errorf("the card ended as %+v", end)
		}
		record := p.conversation.log.Record()
		if len(record) != 1 || len(record[0].Calls()) != 1 || record[0].Calls()[0].State != tt.state || !record[0].Aside {
			t.Errorf("the record holds %+v", record)
		}
	}
}

// A cancelled question settles nothing.
func TestPerformer_AskCancelled(t *testing.T) {
	p, shown, _ := newTestPerformer(nil, tools.AllowOnce)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if text := p.ask(ctx, deleteQuestion()); strings.Contains(text, "deleted") {
		t.Errorf("it says %q", text)
	}
	if end, ok := (*shown)[len(*shown)-1].(transcript.ToolFinished); !ok || end.State != transcript.Cancelled {
		t.Errorf("the card ended as %+v", end)
	}
}

// optionsFound is a user during whose questions the agent finds out what may be chosen.
func optionsFound(p *performer) {
	asker := p.asker
	p.asker = askerFunc(func(r tools.PermissionRequest) (tools.Answer, error) {
		p.conversation.emit(transcript.OptionsChanged{})
		return asker.Ask(context.Background(), r)
	})
}

// What a command did outside is not done again when the recording is played: what it showed, asked
// and answered happens in its place. What others emit while it asks is not a part of it.
func TestPerformer_PlaysWhatWasRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	recorder, err := record.Create(path, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, recorded, _ := newTestPerformer(record.RecordTo(recorder), tools.AllowOnce)
	optionsFound(p)
	command := typedCommand{slashCommand: slashCommand{name: "clean", outside: true}, rest: "all"}
	said := p.answer(t.Context(), command, func() string {
		p.conversation.nameHosts([]string{"go.dev"})
		return p.ask(t.Context(), deleteQuestion())
	})
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	recording, err := record.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	again, played, asked := newTestPerformer(record.PlayFrom(record.NewPlayer(recording)), tools.RejectOnce)
	optionsFound(again)
	text := again.answer(t.Context(), command, func() string {
		t.Error("the command ran again")
		return ""
	})
	if text != said || len(*asked) != 1 || (*asked)[0] != "Delete it?" {
		t.Errorf("it says %q after the questions %q", text, *asked)
	}
	if len(*played) != len(*recorded) || len(*played) < 4 {
		t.Errorf("%d events were shown, %d are played", len(*recorded), len(*played))
	}
	if hosts := again.conversation.log.Memory().Hosts; len(hosts) != 1 || hosts[0] != "go.dev" {
		t.Errorf("the conversation knows the hosts %q", hosts)
	}
}
