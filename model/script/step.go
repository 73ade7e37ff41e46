package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"acp-agent/model"
	"acp-agent/transcript"
)

// forever is the repeat count of a step that is never spent.
const forever = -1

// step is one object of a script, as doc.go describes it.
type step struct {
	When   string  `json:"when"`
	System string  `json:"system"`
	Expect *expect `json:"expect"`

	Think  string             `json:"think"`
	Say    string             `json:"say"`
	Call   []call             `json:"call"`
	Usage  *transcript.Usage  `json:"usage"`
	Finish model.FinishReason `json:"finish"`
	Chunk  int                `json:"chunk"`
	Pause  int                `json:"pause_ms"`
	Wait   string             `json:"wait"`
	Until  string             `json:"until"`
	Error  *fault             `json:"error"`
	Repeat int                `json:"repeat"`

	line int
}

type call struct {
	Name    string          `json:"name"`
	ID      string          `json:"id"`
	Args    json.RawMessage `json:"args"`
	RawArgs *string         `json:"raw_args"`
}

type fault struct {
	Status     int    `json:"status"`
	Message    string `json:"message"`
	RetryAfter int    `json:"retry_after_ms"`
	Kind       string `json:"kind"`
}

// errorKinds are the names of model.ErrorKind in a script.
var errorKinds = map[string]model.ErrorKind{
	"transient": model.Transient, "overflow": model.Overflow, "auth": model.Auth, "invalid": model.Invalid,
}

// times is how often the step is used.
func (s *step) times() int {
	if s.Repeat == 0 {
		return 1
	}
	return s.Repeat
}

func (s *step) opensScene() bool { return s.When != "" || s.System != "" }

// check finds what the JSON decoder cannot.
func (s *step) check() error {
	if s.Chunk < 0 || s.Pause < 0 || s.Repeat < forever {
		return errors.New("chunk and pause_ms must not be negative, and repeat not below -1")
	}
	reasons := []model.FinishReason{"", model.Stop, model.ToolCalls, model.Length, model.Refusal}
	if !slices.Contains(reasons, s.Finish) {
		return fmt.Errorf("finish %q is none of stop, tool_calls, length, refusal", s.Finish)
	}
	if s.Error != nil {
		if err := s.Error.check(); err != nil {
			return err
		}
	}
	texts := []string{s.Think, s.Say, s.Until}
	for i, c := range s.Call {
		if c.RawArgs != nil && c.Args != nil {
			return fmt.Errorf("call %d has both args and raw_args", i)
		}
		texts = append(texts, string(c.Args))
		if c.RawArgs != nil {
			texts = append(texts, *c.RawArgs)
		}
	}
	for _, text := range texts {
		if _, err := expand(text, checkVariable); err != nil {
			return err
		}
	}
	return nil
}

func (f *fault) check() error {
	if _, ok := errorKinds[f.Kind]; !ok && f.Kind != "" {
		return fmt.Errorf("error kind %q is none of transient, overflow, auth, invalid", f.Kind)
	}
	if f.RetryAfter < 0 {
		return errors.New("retry_after_ms must not be negative")
	}
	return nil
}

// err is the failure that the fault stands for; started says that the step had
// streamed something before it.
func (f *fault) err(started bool) *model.Error {
	kind, ok := errorKinds[f.Kind]
	if !ok {
		kind = kindOf(f.Status)
	}
	message := f.Message
	if message == "" {
		message = fmt.Sprintf("scripted error, status %d", f.Status)
	}
	return &model.Error{
		Kind: kind, Status: f.Status, Message: message,
		Busy:        kind == model.Transient && (f.Status == 429 || f.Status == 503),
		RetryAfter:  time.Duration(f.RetryAfter) * time.Millisecond,
		Interrupted: started,
	}
}

func kindOf(status int) model.ErrorKind {
	switch {
	case status == 401 || status == 403:
		return model.Auth
	case status == 413:
		return model.Overflow
	case status == 408 || status == 409 || status == 425 || status == 429 || status >= 500 || status == 0:
		return model.Transient
	}
	return model.Invalid
}

// scene is a run of steps and the requests that it serves.
type scene struct {
	// when and system are nil when they do not matter.
	when, system *regexp.Regexp
	steps        []*step
}

// at returns the n-th step of the scene, repeats counted, or nil at its end.
func (s *scene) at(n int) *step {
	for _, st := range s.steps {
		if st.Repeat == forever || n < st.times() {
			return st
		}
		n -= st.times()
	}
	return nil
}

// after returns the position after n answered steps; failed steps before it
// are skipped.
func (s *scene) after(n int) int {
	position := 0
	for _, st := range s.steps {
		switch {
		case n == 0:
			return position
		case st.Repeat == forever || st.Error == nil && n <= st.times():
			return position + n
		case st.Error == nil:
			n -= st.times()
		}
		position += st.times()
	}
	return position + n
}
