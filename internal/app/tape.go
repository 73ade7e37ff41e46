package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/acp"
	"acp-agent/config"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/model"
	modelrecord "acp-agent/model/record"
	"acp-agent/model/wire"
	"acp-agent/store"
	"acp-agent/transcript"
)

// recordFlag adds the flag --record to a command that serves.
func recordFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("record", "", "record the whole process in a new `FILE`, without keys, for acp-agent replay")
}

// record starts a recording; without a path there is none.
func (c *core) record(path string) (*record.Recorder, error) {
	if path == "" {
		return nil, nil
	}
	r, err := record.Create(path, record.Options{
		Header: record.Header{
			Agent: version, Protocol: 1, OS: runtime.GOOS + "/" + runtime.GOARCH, Started: time.Now(),
			Home: c.sources.HomeDir, State: c.stateDir, Config: c.sources.ConfigDir, Login: c.sources.LoginFile,
		},
		Clean: c.clean, Secrets: func() int { return c.keys.Size() + c.logger.values.Size() },
		Begins: func(text string) bool { return c.keys.Begins(text) || c.logger.values.Begins(text) },
		Failed: func(err error) {
			c.warn(errors.New("the recording ends here, because it cannot be written: " + err.Error()))
		},
	})
	c.tape = record.RecordTo(r)
	return r, err
}

// endRecord ends a recording.
func (c *core) endRecord(r *record.Recorder) {
	if err := r.Close(); err != nil {
		c.logger.Warn("the recording is not complete", "error", err.Error())
	}
}

// onLine returns what records the lines of the wire; nil without a recording.
func onLine(r *record.Recorder) func(dir string, line []byte) {
	if r == nil {
		return nil
	}
	return r.Line
}

// login is how a client runs the login.
func (c *core) login() acp.Login {
	return record.Value(c.tape, "login", "", func() acp.Login { return loginOf(os.Getenv) })
}

// ids makes ids, or has those of a recording.
func (c *core) ids() *transcript.IDs {
	if c.tape == nil {
		return &transcript.IDs{}
	}
	return &transcript.IDs{Known: c.tape.ID}
}

// transport carries the requests to model servers; nil means the usual way.
func (c *core) transport() http.RoundTripper {
	if c.tape == nil {
		return nil
	}
	return c.tape.Transport(wire.Carrier())
}

// scriptedModel is script with a record of what the scripted model answers.
func (c *core) scriptedModel(cfg *config.Config) (scripted model.Provider, err error) {
	if c.tape == nil {
		return c.script(cfg)
	}
	present, err := record.Ask(c.tape, "scripted model", "", func() (bool, error) {
		scripted, err = c.script(cfg)
		return scripted != nil, err
	})
	if err != nil || !present {
		return nil, err
	}
	return modelrecord.Provider(c.tape, scripted), nil
}

// loginKey is the key of the login. A recording says only whether there is one.
func (c *core) loginKey(ctx context.Context, cfg *config.Config) (key string, err error) {
	_, err = record.Ask(c.tape, "login key", "", func() (string, error) {
		key, err = c.loginStore(cfg).Key(ctx, cfg.Model.BaseURL)
		return "", err
	})
	if c.tape.Plays() {
		key = redact.Mask
	}
	return key, err
}

// maxRecalled bounds the record of a stored session that a recording takes over, in bytes.
const maxRecalled = 64 << 20

// recallStored records a stored session that is opened, or has it in the store of a replay.
func (c *core) recallStored(s *store.Store, id string) error {
	if c.tape == nil {
		return nil
	}
	raw, err := record.Ask(c.tape, "stored session", id, func() (store.Raw, error) { return s.Pack(id, maxRecalled) })
	switch {
	case !c.tape.Plays():
		return nil // opening the session reports what is wrong with it
	case err == nil:
		return s.Unpack(id, raw)
	case errors.Is(recalled(err, store.ErrNotFound), store.ErrNotFound):
		return nil
	}
	if _, missing := s.Pack(id, maxRecalled); missing == nil {
		return nil // this process made it: a fork has an id of its own
	}
	return fmt.Errorf("the recording does not have the stored session %s: %w", id, err)
}

// recalled is an error that may come from a recording, which has its text alone: with is below it
// when the text ends with that.
func recalled(err, with error) error {
	if err == nil || errors.Is(err, with) || !strings.HasSuffix(err.Error(), with.Error()) {
		return err
	}
	return fmt.Errorf("%s%w", strings.TrimSuffix(err.Error(), with.Error()), with)
}
