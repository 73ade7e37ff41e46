package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"acp-agent/permissions"
	"acp-agent/store"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// The keys under which a session stores what its conversation does not hold.
const (
	choicesKey = "choices"
	placeKey   = "directory" // the name of the session's own directory
	beganKey   = "began"     // what stands in the system prompt of the day
)

// storedChoices are what the user chose for a session, as it is stored.
type storedChoices struct {
	Agent   string           `json:"agent,omitempty"`
	Mode    permissions.Mode `json:"mode"`
	Before  permissions.Mode `json:"before,omitempty"`
	Model   string           `json:"model"`
	Thought string           `json:"thought,omitempty"`
	Queue   string           `json:"queue,omitempty"`
}

// newRecorder makes what stores the session: of a new one, which touches no disk, or of the one
// that is resumed.
func (s *Session) newRecorder() (*store.Recorder, error) {
	if !s.stored {
		return s.host.Store.Create(store.Info{ID: s.ID, Cwd: s.spec.Cwd, Additional: s.spec.Additional}, s.storeFailed), nil
	}
	r, err := s.host.Store.Open(s.ID, s.storeFailed)
	if err != nil {
		return nil, err
	}
	if cwd := r.Info().Cwd; filepath.Clean(cwd) != filepath.Clean(s.spec.Cwd) {
		err := fmt.Errorf("session %s is of the directory %s: open it there, or fork it to go on in %s", s.ID, cwd, s.spec.Cwd)
		return r, &tools.Error{Kind: tools.BadInput, Message: err.Error(), Err: err}
	}
	r.SetAdditional(s.spec.Additional)
	return r, nil
}

// storeFailed says, once, that the conversation is not stored. It goes on all the same.
func (s *Session) storeFailed(err error) {
	s.host.Logger.Warn("the conversation cannot be stored", "session", s.ID, "error", err.Error())
	text := "This conversation is not stored at the moment: " + err.Error() + ". It goes on, and storing is tried again with each step."
	s.conversation.notices.once("store", transcript.Notice{Severity: transcript.Warning, Title: "Conversation not stored", Text: text})
}

// closeRecord ends what stores the session.
func (s *Session) closeRecord() {
	if err := s.conversation.recorder.Close(); err != nil {
		s.host.Logger.Warn("the stored conversation cannot be closed", "session", s.ID, "error", err.Error())
	}
}

// readChoices are the choices of the session that is resumed; ok says that there are any.
func (s *Session) readChoices() (chosen storedChoices, ok bool) {
	stored := s.conversation.recorder.Stored()
	if stored == nil {
		return chosen, false
	}
	ok, err := stored.State(choicesKey, &chosen)
	if err != nil {
		s.host.Logger.Warn("the choices of a stored session cannot be read", "session", s.ID, "error", err.Error())
	}
	return chosen, ok && err == nil
}

// formerPlace is the name that the session's own directory had. Files in it that a killed process
// was writing are swept before it is used again.
func (s *Session) formerPlace() (name string) {
	stored := s.conversation.recorder.Stored()
	if stored == nil {
		return ""
	}
	if _, err := stored.State(placeKey, &name); err != nil {
		return ""
	}
	if _, err := workspace.Sweep(s.host.StateDir); err != nil {
		s.host.Logger.Info("swept leftovers of killed sessions", "error", err)
	}
	return name
}

// resume makes the stored conversation that of the session, and shows it where the client wants
// that. Calls that ran when its process ended are closed, and none is run again (R141).
func (s *Session) resume(ctx context.Context) error {
	r := s.conversation.recorder
	stored := r.Stored()
	if stored == nil {
		return nil
	}
	snapshot, lost, err := r.Resume(ctx, time.Now(), func(m *transcript.Message) error {
		if s.spec.Replay != nil {
			s.spec.Replay(m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.conversation.log.Restore(snapshot)
	s.agents.tools.Activate(snapshot.Memory.Tools)
	s.conversation.account.restore(r.Info())
	s.conversation.naming.restore(r.Info().Title)
	var began beginning
	if found, err := stored.State(beganKey, &began); err == nil && found {
		s.assembler.briefing.began = &began
	}
	s.restoreAnswers(stored)
	s.checkpoints.restore(stored)
	s.restoreSidecars(snapshot.Messages)
	for _, child := range lost {
		s.conversation.record(transcript.AgentSaid{Message: s.agents.tree.LostMessage(child.Record())})
	}
	s.noticeDamage(stored.Damage)
	return nil
}

// noticeDamage tells the user what of a stored conversation cannot be read.
func (s *Session) noticeDamage(damage store.Damage) {
	if text := damage.String(); text != "" {
		s.conversation.emit(transcript.Notice{Severity: transcript.Warning, Title: "Conversation damaged", Text: "Not all of this conversation can be read: " + text})
	}
}

// save stores what the user chose and allowed, where it has changed.
func (s *Session) save() {
	now := s.choices.get()
	s.conversation.put(choicesKey, storedChoices{
		Agent: s.agents.manifest.Name, Mode: s.choices.wanted(), Before: now.before, Model: now.model, Thought: now.thought, Queue: now.queue,
	})
	s.conversation.put(placeKey, s.work.Place())
	s.saveAnswers()
}

// put stores a value under a key unless it is the one that was stored last.
func (c *conversation) put(key string, value any) {
	if c.recorder == nil {
		return
	}
	data, err := json.Marshal(value)
	if err != nil {
		return // values are structs of strings
	}
	c.mu.Lock()
	same := c.kept[key] == string(data)
	c.kept[key] = string(data)
	c.mu.Unlock()
	if !same {
		_ = c.recorder.Put(key, json.RawMessage(data)) // it encodes
	}
}

// ShowTitle emits the title of a session that was resumed.
func (s *Session) ShowTitle() {
	if info := s.conversation.recorder.Info(); info.Title != "" {
		s.conversation.sink.Emit(transcript.TitleChanged{Title: info.Title, At: info.Updated})
	}
}

// ShowState emits the title, the plan and the fill of the window, with which a replay ends.
func (s *Session) ShowState() {
	s.ShowTitle()
	c := s.conversation
	if plan := c.log.Memory().Plan; len(plan) > 0 {
		c.sink.Emit(transcript.PlanChanged{Entries: plan})
	}
	if _, context := c.account.now(); context.Size > 0 {
		c.sink.Emit(context)
	}
}

// List returns a page of the stored sessions, the one that was used last first (R147).
func (h *Host) List(o store.ListOptions) (store.Page, error) { return h.Store.List(o) }

// Fork stores a copy of a stored session, without what the user allowed in it (R142).
func (h *Host) Fork(id string, o store.ForkOptions) (store.Info, error) {
	o.Without = append(o.Without, rulesKey, hereKey, subagentsKey)
	o.Rewrite = forFork
	return h.Store.Fork(id, o)
}

// Delete deletes a stored session; one that is not there is deleted already (R147).
func (h *Host) Delete(id string) error {
	err := h.Store.Delete(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
