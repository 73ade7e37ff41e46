package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// conversations is where the agent with this home stores conversations.
func conversations(home string) string {
	return filepath.Join(home, "data", "acp-agent", "conversations")
}

// storeOnce stores a conversation unless it is stored already.
func storeOnce(home, id string, turns int) error {
	if _, err := os.Stat(filepath.Join(conversations(home), id+".jsonl")); err == nil {
		return nil
	}
	var failed error
	at := time.Now()
	recorder := store.New(store.Options{Dir: conversations(home)}).
		Create(store.Info{ID: id, Cwd: filepath.Join(home, "project")}, func(err error) { failed = err })
	for i := range turns {
		turn := fmt.Sprint(i)
		recorder.Emit(transcript.TurnStarted{TurnID: "trn_" + turn, At: at})
		prompt := &transcript.Message{ID: "msg_u" + turn, Role: transcript.User, Created: at, Parts: []transcript.Part{
			&transcript.TextPart{ID: "prt_u" + turn, Text: "Please look at file " + turn + " and fix it."},
		}}
		recorder.Emit(transcript.UserSaid{Message: prompt})
		storeStep(recorder, turn, at)
		recorder.Emit(transcript.TurnFinished{TurnID: "trn_" + turn, Reason: "finish"})
	}
	if err := recorder.Close(); err != nil {
		return err
	}
	return failed
}

// storeStep stores a thought, an answer and a call.
func storeStep(recorder *store.Recorder, turn string, at time.Time) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 18)
	step := "msg_a" + turn
	recorder.Emit(transcript.StepStarted{MessageID: step, Model: "m", At: at})
	for _, kind := range []transcript.PartKind{transcript.ReasoningKind, transcript.TextKind} {
		part := fmt.Sprintf("prt_%s_%d", turn, kind)
		recorder.Emit(transcript.PartStarted{MessageID: step, PartID: part, Kind: kind})
		recorder.Emit(transcript.PartDelta{PartID: part, Text: text})
		recorder.Emit(transcript.PartEnded{PartID: part})
	}
	call, card := "call_"+turn, kinds.Card{Kind: kinds.Read, Title: "Read main.go"}
	recorder.Emit(transcript.ToolStarted{MessageID: step, CallID: call, Name: "read", Tool: "read"})
	recorder.Emit(transcript.ToolReady{CallID: call, Tool: "read", Input: `{"path":"main.go"}`, Card: card})
	recorder.Emit(transcript.ToolState{CallID: call, State: transcript.InProgress})
	card.Content = []kinds.Content{kinds.Text{Text: text}}
	recorder.Emit(transcript.ToolFinished{
		CallID: call, State: transcript.Done, Card: card, Text: text,
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"lines":18}`)},
	})
	recorder.Emit(transcript.StepFinished{MessageID: step, Usage: &transcript.Usage{Input: 10, Output: 10}})
}

// storeCopies stores sessions with the same conversation, unless they are stored already.
func storeCopies(home string, sessions, turns int) error {
	const model = "ses_model"
	if err := storeOnce(home, model, turns); err != nil {
		return err
	}
	path := func(id string) string { return filepath.Join(conversations(home), id+".jsonl") }
	text, err := os.ReadFile(path(model))
	if err != nil {
		return err
	}
	for i := range sessions - 1 {
		if _, err := os.Stat(path(fmt.Sprintf("ses_%05d", i))); err == nil {
			continue
		}
		if err := os.WriteFile(path(fmt.Sprintf("ses_%05d", i)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
