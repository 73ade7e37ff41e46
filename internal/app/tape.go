package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/acp"
	"acp-agent/config"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/strictread"
	"acp-agent/model"
	modelrecord "acp-agent/model/record"
	"acp-agent/model/wire"
	"acp-agent/sandbox"
	"acp-agent/session"
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
		Clean:  func(text string) string { return c.keys.Text(c.logger.values.Text(text)) },
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

// lines is what sees the lines of the wire; nil without a recording.
func lines(r *record.Recorder) func(dir string, line []byte) {
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

// scriptedModel is script with a record: of the model that answers in its place.
func (c *core) scriptedModel(cfg *config.Config) (scripted model.Provider, err error) {
	if c.tape == nil {
		return c.script(cfg)
	}
	is, err := record.Ask(c.tape, "scripted model", "", func() (bool, error) {
		scripted, err = c.script(cfg)
		return scripted != nil, err
	})
	if err != nil || !is {
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

// tapeSandbox records how processes can be confined, and when that became known.
func (c *core) tapeSandbox(host *session.Host) {
	const event = "sandbox"
	switch {
	case c.tape.Records():
		host.Sandbox.Found = func(report sandbox.Report) {
			if data, err := json.Marshal(report); err == nil {
				c.tape.Happened("", event, data)
			}
		}
		host.Sandbox.Memory = tapedExpectation{host.Sandbox.Memory, c.tape}
	case c.tape.Plays():
		found := make(chan sandbox.Report, 1)
		var probe *sandbox.Probe
		c.tape.OnHappened("", func(name string, data []byte) {
			var report sandbox.Report
			if name == event && json.Unmarshal(data, &report) == nil {
				found <- report
				_, _ = probe.Wait(context.Background()) // what follows in the recording knows it
			}
		})
		probe = sandbox.NewProbe(func(ctx context.Context) sandbox.Report {
			select {
			case report := <-found:
				return report
			case <-ctx.Done():
				return sandbox.Report{Kind: sandbox.None}
			}
		})
		probe.Memory = tapedExpectation{nil, c.tape}
		host.Sandbox = probe
		probe.Start(context.Background())
	}
}

// tapedExpectation is an expectation with a record.
type tapedExpectation struct {
	sandbox.Expectation
	tape *record.Tape
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
		return nil // what is wrong with it is found when it is opened
	case err == nil:
		return s.Unpack(id, raw)
	case strings.HasSuffix(err.Error(), store.ErrNotFound.Error()):
		return nil
	}
	if _, missing := s.Pack(id, maxRecalled); missing == nil {
		return nil // this process made it: a fork has an id of its own
	}
	return fmt.Errorf("the recording does not have the stored session %s: %w", id, err)
}

// expected is what was expected of the sandbox.
type expected struct {
	Report sandbox.Report
	Known  bool
}

// Expected implements sandbox.Expectation.
func (e tapedExpectation) Expected() (sandbox.Report, bool) {
	answer := record.Value(e.tape, "expected sandbox", "", func() (x expected) {
		if e.Expectation != nil {
			x.Report, x.Known = e.Expectation.Expected()
		}
		return x
	})
	return answer.Report, answer.Known
}

// Keep implements sandbox.Expectation.
func (e tapedExpectation) Keep(ctx context.Context, report sandbox.Report) error {
	if e.Expectation == nil {
		return nil
	}
	return e.Expectation.Keep(ctx, report)
}

// configRead is what a recording keeps of one reading of the configuration.
type configRead struct {
	Env   map[string]string
	Files map[string]string
	// Login is the file of the login, where there is one.
	Login *string
}

// read reads the configuration with a record of what stands in it. Of one that has a mistake only
// the mistake is recorded, because it is not known what in it are keys.
func (c *core) read(sources config.Sources, cwd string) (*config.Config, error) {
	if c.tape == nil {
		return config.Load(sources, cwd)
	}
	if c.tape.Plays() {
		read, err := record.Ask(c.tape, "configuration", cwd, func() (configRead, error) { return configRead{}, nil })
		if err != nil {
			return nil, err
		}
		return config.Load(read.sources(sources), cwd)
	}
	var mu sync.Mutex
	read := configRead{Env: map[string]string{}, Files: map[string]string{}}
	noted := sources
	noted.Getenv = func(name string) string {
		value := sources.Getenv(name)
		mu.Lock()
		defer mu.Unlock()
		if value != "" {
			read.Env[name] = shownVariable(name, value)
		}
		return value
	}
	noted.ReadFile = func(path string) ([]byte, error) {
		data, err := sources.ReadFile(path)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			read.Files[path] = string(strictread.WithoutComments(data))
		}
		return data, err
	}
	if sources.ReadLogin != nil {
		noted.ReadLogin = func(path string) ([]byte, error) {
			data, err := sources.ReadLogin(path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				text := string(data)
				read.Login = &text
			}
			return data, err
		}
	}
	cfg, err := config.Load(noted, cwd)
	if err != nil {
		_, _ = record.Ask(c.tape, "configuration", cwd, func() (configRead, error) { return configRead{}, err })
		return nil, err
	}
	c.logger.hide(cfg.Secrets()...)
	c.keep(cfg.Keys()...)
	_, _ = record.Ask(c.tape, "configuration", cwd, func() (configRead, error) { return read, nil })
	return cfg, nil
}

// sources are those of a recording.
func (r configRead) sources(from config.Sources) config.Sources {
	from.Getenv = func(name string) string { return r.Env[name] }
	from.ReadFile = func(path string) ([]byte, error) {
		text, ok := r.Files[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	from.ReadLogin = func(string) ([]byte, error) {
		if r.Login == nil {
			return nil, fs.ErrNotExist
		}
		return []byte(*r.Login), nil
	}
	return from
}

// keyVariable matches the names of variables whose values are not for a recording.
var keyVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)
})

func shownVariable(name, value string) string {
	if keyVariable().MatchString(name) {
		return redact.Mask
	}
	return value
}
