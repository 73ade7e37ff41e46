package session

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"acp-agent/store"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// archive stores a conversation, and beside it values under keys; of a resumed session it also reads
// them. It stores nothing where the [Host] has no store. It is safe for concurrent use once it is open.
type archive struct {
	sessionID string
	logger    *slog.Logger
	recorder  *store.Recorder // nil stores nothing

	mu   sync.Mutex        // guards kept
	kept map[string]string // the value that put stored last, by key
}

func newArchive(sessionID string, logger *slog.Logger) *archive {
	return &archive{sessionID: sessionID, logger: logger, kept: map[string]string{}}
}

// open opens the recorder of a new session, which touches no disk, or of the session that is resumed.
// When the conversation cannot be stored later, a notice says so once, and the conversation goes on.
func (a *archive) open(o opened, c *conversation) (err error) {
	failed := func(err error) {
		a.logger.Warn("the conversation cannot be stored", "session", a.sessionID, "error", err.Error())
		text := "This conversation is not stored at the moment: " + err.Error() + ". It goes on, and storing is tried again with each step."
		o.noticeProblem(c, "store", transcript.Notice{Severity: transcript.Warning, Title: "Conversation not stored", Text: text})
	}
	if !o.stored {
		a.recorder = o.host.Store.Create(store.Info{ID: o.ID, Cwd: o.spec.Cwd, Additional: o.spec.Additional}, failed)
		return nil
	}
	if a.recorder, err = o.host.Store.Open(o.ID, failed); err != nil {
		return err
	}
	switch cwd := a.recorder.Info().Cwd; {
	case cwd == "": // what the user allowed there must not hold elsewhere
		err = fmt.Errorf("the directory of session %s can no longer be read: fork it to go on in %s", o.ID, o.spec.Cwd)
	case filepath.Clean(cwd) != filepath.Clean(o.spec.Cwd):
		err = fmt.Errorf("session %s is of the directory %s: open it there, or fork it to go on in %s", o.ID, cwd, o.spec.Cwd)
	}
	if err != nil {
		return &tools.Error{Kind: tools.BadInput, Message: err.Error(), Err: err}
	}
	a.recorder.SetAdditional(o.spec.Additional)
	return nil
}

// close writes what is still pending, and closes the recorder.
func (a *archive) close() {
	if err := a.recorder.Close(); err != nil {
		a.logger.Warn("the stored conversation cannot be closed", "session", a.sessionID, "error", err.Error())
	}
}

// emit stores an event.
func (a *archive) emit(e transcript.Event) { a.recorder.Emit(e) }

// info is what the store lists about the session.
func (a *archive) info() store.Info { return a.recorder.Info() }

// stored is the stored session that is resumed; nil in a new session.
func (a *archive) stored() *store.Stored {
	if a.recorder == nil {
		return nil
	}
	return a.recorder.Stored()
}

// put stores a value under a key unless the same value was stored last.
func (a *archive) put(key string, value any) {
	if a.recorder == nil {
		return
	}
	data, err := json.Marshal(value)
	if err != nil {
		return // values are structs of strings
	}
	a.mu.Lock()
	same := a.kept[key] == string(data)
	a.kept[key] = string(data)
	a.mu.Unlock()
	if !same {
		_ = a.recorder.Put(key, json.RawMessage(data)) // it encodes
	}
}

// get decodes a value of the resumed session, and reports whether there is one.
func (a *archive) get(key string, into any) (found bool, err error) {
	stored := a.stored()
	if stored == nil {
		return false, nil
	}
	if found, err = stored.State(key, into); err != nil {
		a.logger.Warn("a value of a stored session cannot be read", "session", a.sessionID, "key", key, "error", err.Error())
		return false, err
	}
	return found, nil
}
