package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// user is a [tools.Questioner] made of a function.
type user func(ctx context.Context, callID string, questions []tools.Question) ([][]string, error)

func (u user) Answers(ctx context.Context, callID string, questions []tools.Question) ([][]string, error) {
	return u(ctx, callID, questions)
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	var asked []tools.Question
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Questions = user(func(_ context.Context, callID string, questions []tools.Question) ([][]string, error) {
		if callID != rt.CallID() {
			t.Errorf("asked for call %q, want %q", callID, rt.CallID())
		}
		asked = questions
		return [][]string{{"Go"}, nil, {"as you like"}}, nil
	})
	result, err := rt.Run(t.Context(), newQuestion(), "question", `{"questions":[
		{"question":"Which language?","header":"Language","options":[{"label":"Go","description":"fast"},{"label":"Python"}]},
		{"question":"Which systems?","options":[{"label":"Linux"},{"label":"macOS"}],"multi_select":true},
		{"question":"What name?"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []tools.Question{
		{Question: "Which language?", Header: "Language", Options: []tools.QuestionOption{{Label: "Go", Description: "fast"}, {Label: "Python"}}},
		{Question: "Which systems?", Options: []tools.QuestionOption{{Label: "Linux"}, {Label: "macOS"}}, MultiSelect: true},
		{Question: "What name?"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	wantCard(t, result, "Which language?\n→ Go\n\nWhich systems?\n→ (no answer)\n\nWhat name?\n→ as you like\n", "")
	raw, err := json.Marshal(result.Data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"answers":[["Go"],[],["as you like"]]}`, string(raw)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

// Without a user the text is fixed, and nothing is invented (R76).
func TestQuestion_Headless(t *testing.T) {
	t.Parallel()
	failure := wantFailure(t, tooltest.New(tooltest.Options{}), newQuestion(), `{"questions":[{"question":"Which?"}]}`, tools.Unavailable, "")
	const want = "question is unavailable: this host has no user to answer. Continue with your best judgement and state your assumptions."
	if failure.Error() != want {
		t.Errorf("text %q, want %q", failure.Error(), want)
	}
}

func TestQuestion_Refuses(t *testing.T) {
	t.Parallel()
	eleven := strings.TrimSuffix(strings.Repeat(`{"question":"q"},`, maxQuestions+1), ",")
	tests := []struct{ name, args, want string }{
		{"none", `{"questions":[]}`, "1 to 10"},
		{"too many", `{"questions":[` + eleven + `]}`, "not 11"},
		{"empty", `{"questions":[{"question":"q"},{"question":" "}]}`, "question 2 is empty"},
		{"empty label", `{"questions":[{"question":"q","options":[{"label":""}]}]}`, "empty label"},
		{"same label", `{"questions":[{"question":"q","options":[{"label":"a"},{"label":"a "}]}]}`, `"a" twice`},
		{"several of nothing", `{"questions":[{"question":"q","multi_select":true}]}`, "no options"},
		{"unknown argument", `{"questions":[{"question":"q","timeout":1}]}`, "timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{})
			rt.Serve.Questions = user(func(context.Context, string, []tools.Question) ([][]string, error) {
				t.Error("the user was asked")
				return nil, nil
			})
			wantFailure(t, rt, newQuestion(), tt.args, tools.BadInput, tt.want)
		})
	}
}

func TestQuestion_NoAnswer(t *testing.T) {
	t.Parallel()
	const args = `{"questions":[{"question":"Which?"}]}`
	rt := tooltest.New(tooltest.Options{})
	refusal := tools.Errorf(tools.Denied, "declined")
	rt.Serve.Questions = user(func(context.Context, string, []tools.Question) ([][]string, error) { return nil, refusal })
	if _, err := rt.Run(t.Context(), newQuestion(), "question", args); !errors.Is(err, refusal) {
		t.Errorf("error = %v, want %v", err, refusal)
	}
	rt.Serve.Questions = user(func(context.Context, string, []tools.Question) ([][]string, error) { return [][]string{}, nil })
	wantFailure(t, rt, newQuestion(), args, tools.Backend, "0 answers")
	// A call that is cancelled while it waits is released (R78).
	rt.Serve.Questions = user(func(ctx context.Context, _ string, _ []tools.Question) ([][]string, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := rt.Run(ctx, newQuestion(), "question", args)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
}

func TestQuestion_Spec(t *testing.T) {
	t.Parallel()
	if spec := newQuestion().Spec; !spec.Profile.Serial || !spec.DisableTimeout {
		t.Error("question must be serial and have no time limit (R78)")
	}
}
