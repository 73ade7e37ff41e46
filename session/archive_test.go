package session

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/store"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// archiving has what a session of parts says stored below dir, as a process does that starts the
// session or, with stored, goes on with it.
func archiving(t *testing.T, dir string, stored bool) *parts {
	t.Helper()
	p := newParts(t, Settings{}, nil)
	p.stored = stored
	p.spec.Cwd = "/work"
	p.host.Logger = slog.New(slog.DiscardHandler)
	p.host.Store = store.New(store.Options{Dir: filepath.Join(dir, "conversations")})
	t.Cleanup(func() { _ = p.host.Store.Close() })
	if err := p.conversation.archive.open(p.opened, p.conversation); err != nil {
		t.Fatal(err)
	}
	return p
}

// say adds a message of the user, with which a conversation begins to be stored.
func (p *parts) say(text string, more ...transcript.Part) {
	p.conversation.note(transcript.UserSaid{Message: &transcript.Message{
		ID: "msg_" + text, Role: transcript.User, Created: time.Now(), Parts: append([]transcript.Part{&transcript.TextPart{Text: text}}, more...),
	}})
}

// R141: what a session stores is there for the process that goes on with it, in its directory alone.
func TestArchive_GoesOn(t *testing.T) {
	dir := t.TempDir()
	first := archiving(t, dir, false).conversation.archive
	var none storedChoices
	if found, err := first.get(choicesKey, &none); found || err != nil {
		t.Errorf("a new session has choices: %+v, %v", none, err)
	}
	want := storedChoices{Mode: permissions.ModeCode, Model: "m", Queue: queueSteer}
	first.put(choicesKey, storedChoices{Model: "before"})
	first.put(choicesKey, want)
	first.emit(transcript.UserSaid{Message: &transcript.Message{ID: "msg_1", Role: transcript.User, Parts: []transcript.Part{&transcript.TextPart{Text: "go"}}}})
	first.close()

	p := archiving(t, dir, true)
	second := p.conversation.archive
	var got storedChoices
	if found, err := second.get(choicesKey, &got); !found || err != nil || got != want {
		t.Errorf("choices %+v, %t, %v", got, found, err)
	}
	var text string
	if found, err := second.get(choicesKey, &text); found || err == nil {
		t.Error("a value of another form was read")
	}
	second.close()
	p.spec.Cwd = "/elsewhere"
	refused := func(where, says string) {
		t.Helper()
		third := newArchive(p.ID, p.host.Logger)
		if err := third.open(p.opened, p.conversation); !badInput(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", where, err)
		}
		third.close()
	}
	refused("in another directory", "is of the directory /work")
	if err := os.Truncate(filepath.Join(dir, "conversations", p.ID+".jsonl"), 0); err != nil {
		t.Fatal(err)
	}
	refused("without the record of its directory", "can no longer be read")
}

func badInput(err error) bool {
	failure, ok := errors.AsType[*tools.Error](err)
	return ok && failure.Kind == tools.BadInput
}

// A Host that keeps no conversations stores nothing, and nothing fails.
func TestArchive_StoresNothing(t *testing.T) {
	p := newParts(t, Settings{}, nil)
	a := p.conversation.archive
	if err := a.open(p.opened, p.conversation); err != nil {
		t.Fatal(err)
	}
	a.put(choicesKey, storedChoices{Model: "m"})
	p.say("go")
	var got storedChoices
	if found, err := a.get(choicesKey, &got); found || err != nil || a.stored() != nil || a.info().ID != "" {
		t.Errorf("choices %+v, %t, %v", got, found, err)
	}
	a.close()
}

// sidecar writes the rest of a result.
func (p *parts) sidecar(t *testing.T, text string) (path string) {
	t.Helper()
	call := p.work.Call("call_1", "read", nil)
	defer call.Finish()
	file, err := call.Sidecar()
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write([]byte(text))
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Path()
}

// R107, R141: the rest of a result is where the result says, in the process that goes on too.
func TestSidecars_GoOn(t *testing.T) {
	dir := t.TempDir()
	p := archiving(t, dir, false)
	p.life = newLifetime(t.Context(), nil)
	path := p.sidecar(t, "the rest")
	p.say("go")
	sidecars{p.opened, p.conversation.archive}.store(path)
	p.life.wait()
	p.conversation.archive.close()

	p = archiving(t, dir, true)
	again := filepath.Join(filepath.Dir(p.sidecar(t, "another")), filepath.Base(path))
	sidecars{p.opened, p.conversation.archive}.restore([]*transcript.Message{{Parts: []transcript.Part{&transcript.ToolPart{
		CallID: "call_1", Result: &transcript.Envelope{Metadata: transcript.Metadata{OutputPath: again}},
	}}}})
	if data, err := os.ReadFile(again); err != nil || string(data) != "the rest" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	p.conversation.archive.close()
}

// R146: what the user allowed holds for the process that goes on, for the main agent and for the
// subagents that have not run again.
func TestRuleBook_AnswersGoOn(t *testing.T) {
	dir := t.TempDir()
	rule := permissions.Rule{Permission: "bash", Pattern: "make *", Action: capability.Allow, Source: permissions.SourceAlways}
	below := storedAnswers{Names: []string{"helper"}, Manifests: "digest", Rules: []permissions.Rule{rule}}
	book := func(p *parts) *ruleBook {
		return &ruleBook{policy: pipeline.NewPolicy(permissions.Set{}), below: newAgentPolicies()}
	}
	p := archiving(t, dir, false)
	b := book(p)
	b.policy.Add(permissions.Session, rule)
	b.below.expect([]storedAnswers{below})
	p.say("go")
	b.saveAnswers(p.conversation.archive)
	p.conversation.archive.close()

	p = archiving(t, dir, true)
	b = book(p)
	b.restoreAnswers(p.conversation.archive)
	if rules := b.policy.Rules().In(permissions.Session); len(rules) != 1 || rules[0].Pattern != rule.Pattern {
		t.Errorf("rules of the session: %+v", rules)
	}
	if expected := b.below.expectedAnswers(); len(expected) != 1 || expected[0].Names[0] != "helper" {
		t.Errorf("answers that wait for a subagent: %+v", expected)
	}
	p.conversation.archive.close()
}
