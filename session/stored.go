package session

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"acp-agent/permissions"
	"acp-agent/store"
	"acp-agent/transcript"
)

// The keys under which a session stores what its conversation does not hold.
const (
	choicesKey = "choices"
	placeKey   = "directory" // the name of the session's own directory; open_workspace.go
	beganKey   = "began"     // the facts in the system prompt, which must not change
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

// resume restores the stored conversation of a resumed session, and shows it if the client wants that.
// Calls that ran when the former process ended are closed, and not run again (R141).
func (s *Session) resume(ctx context.Context) error {
	a := s.conversation.archive
	stored := a.stored()
	if stored == nil {
		return nil
	}
	snapshot, lost, err := a.recorder.Resume(ctx, time.Now(), func(m *transcript.Message) error {
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
	s.conversation.account.restore(a.info())
	s.conversation.naming.restore(a.info().Title)
	var began beginning
	if found, _ := a.get(beganKey, &began); found {
		s.assembler.briefing.began = &began
	}
	s.rules.restoreAnswers(a)
	s.checkpoints.restore(stored)
	sidecars{s.opened, a}.restore(snapshot.Messages)
	for _, child := range lost {
		s.conversation.record(transcript.AgentSaid{Message: s.agents.tree.LostMessage(child.Record())})
	}
	s.assembler.jobs.resume()
	if damage := stored.Damage.String(); damage != "" {
		s.conversation.emit(transcript.Notice{Severity: transcript.Warning, Title: "Conversation damaged", Text: "Not all of this conversation can be read: " + damage})
	}
	return nil
}

// save stores what the user chose and allowed, where it has changed.
func (s *Session) save() {
	a, now := s.conversation.archive, s.choices.get()
	a.put(choicesKey, storedChoices{
		Agent: s.agents.manifest.Name, Mode: s.choices.modes.wanted(), Before: now.before, Model: now.model, Thought: now.thought, Queue: now.queue,
	})
	a.put(placeKey, s.work.Place())
	s.rules.saveAnswers(a)
}

// ShowTitle emits the title of a session that was resumed.
func (s *Session) ShowTitle() {
	if info := s.conversation.archive.info(); info.Title != "" {
		s.conversation.sink.Emit(transcript.TitleChanged{Title: info.Title, At: info.Updated})
	}
}

// ShowState emits the title, the plan and the usage of the window, after a conversation was shown again.
func (s *Session) ShowState() {
	s.ShowTitle()
	c := s.conversation
	if plan := c.log.Memory().Plan; len(plan) > 0 {
		c.sink.Emit(transcript.PlanChanged{Entries: plan})
	}
	if _, window := c.account.now(); window.Size > 0 {
		c.sink.Emit(window)
	}
}

// List returns a page of the stored sessions, the one that was used last first (R147).
func (h *Host) List(o store.ListOptions) (store.Page, error) { return h.Store.List(o) }

// directories are the directories of all stored sessions, as far as they can be listed.
func (h *Host) directories() []string {
	page, err := h.List(store.ListOptions{Limit: math.MaxInt})
	if err != nil {
		h.Logger.Info("listed the directories of sessions", "error", err)
	}
	var dirs []string
	for _, info := range page.Sessions {
		dirs = append(append(dirs, info.Cwd), info.Additional...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Fork stores a copy of a stored session, without what the user allowed in it (R142).
func (h *Host) Fork(id string, o store.ForkOptions) (store.Info, error) {
	o.Without = append(o.Without, rulesKey, hereKey, subagentsKey)
	o.Rewrite = forFork
	return h.Store.Fork(id, o)
}

// Delete deletes a stored session. It is no error when there is none (R147).
func (h *Host) Delete(id string) error {
	err := h.Store.Delete(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
