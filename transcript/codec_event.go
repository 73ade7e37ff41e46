package transcript

import (
	"encoding/json"
	"errors"
	"fmt"

	"acp-agent/kinds"
)

// eventForm is an event as JSON: the name of its type, its fields, and separately the fields that
// encoding/json cannot encode by itself.
type eventForm struct {
	Type    string          `json:"type"`
	Fields  json.RawMessage `json:"fields,omitempty"`
	Content []contentForm   `json:"content,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
}

// readyFields are those of ToolReady, with the arguments as the JSON that they are.
type readyFields struct {
	ToolReady
	Args json.RawMessage
}

// EncodeEvent encodes an event as one line of JSON. The events about a subagent have no JSON form, because
// they refer to a Child that changes.
func EncodeEvent(e Event) ([]byte, error) {
	form := eventForm{Type: fmt.Sprintf("%T", e)[len("transcript."):]}
	var fields any = e
	var content []kinds.Content
	var message *Message
	switch e := e.(type) {
	case ToolStarted:
		content = e.Card.Content
	case ToolReady:
		fields, content = readyFields{e, e.Args}, e.Card.Content
	case ToolFinished:
		content = e.Card.Content
	case ToolCard:
		content = e.Content
		e.Content = nil
		fields = e
	case AgentSaid:
		message, fields = e.Message, nil
	case UserSaid:
		message, fields = e.Message, nil
	case Compacted:
		message, fields = e.Message, nil
	case ChildStarted, ChildEvent, ChildFinished:
		return nil, fmt.Errorf("event %s has no JSON form", form.Type)
	}
	var err error
	if fields != nil {
		if form.Fields, err = encode(fields); err != nil {
			return nil, fmt.Errorf("event %s: %w", form.Type, err)
		}
	}
	if form.Content, err = contentForms(content); err != nil {
		return nil, fmt.Errorf("event %s: %w", form.Type, err)
	}
	if message != nil {
		if form.Message, err = EncodeMessage(message); err != nil {
			return nil, fmt.Errorf("event %s: %w", form.Type, err)
		}
	}
	return encode(form)
}

// DecodeEvent decodes what EncodeEvent has encoded. An unknown type is an error that names it.
func DecodeEvent(data []byte) (Event, error) {
	var form eventForm
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	e, err := form.event()
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", form.Type, err)
	}
	return e, nil
}

func (f *eventForm) event() (Event, error) {
	switch f.Type {
	case "ToolStarted":
		var e ToolStarted
		err := f.withCard(&e, &e.Card)
		return e, err
	case "ToolFinished":
		var e ToolFinished
		err := f.withCard(&e, &e.Card)
		return e, err
	case "ToolReady":
		var e readyFields
		err := f.withCard(&e, &e.Card)
		e.ToolReady.Args = e.Args
		return e.ToolReady, err
	case "ToolCard":
		var e ToolCard
		err := f.fields(&e)
		if err == nil {
			e.Content, err = f.contents()
		}
		return e, err
	case "AgentSaid", "UserSaid", "Compacted":
		m, err := DecodeMessage(f.Message)
		if err != nil {
			return nil, err
		}
		switch f.Type {
		case "AgentSaid":
			return AgentSaid{m}, nil
		case "UserSaid":
			return UserSaid{m}, nil
		}
		return Compacted{m}, nil
	}
	return f.plain()
}

// plain decodes an event all of whose fields encoding/json can decode.
func (f *eventForm) plain() (Event, error) {
	for _, read := range []func() (Event, error){
		as[TurnStarted](f), as[TurnFinished](f), as[StepStarted](f), as[StepFinished](f), as[StepDropped](f), as[TurnWithdrawn](f),
		as[Hidden](f), as[Shown](f), as[Cleared](f), as[CompactionStarted](f), as[CompactionFailed](f),
		as[PartStarted](f), as[PartDelta](f), as[PartReplay](f), as[PartEnded](f),
		as[ToolInput](f), as[ToolReplay](f), as[ToolState](f), as[ToolOutput](f), as[ToolTerminal](f), as[JobOutput](f), as[JobListens](f), as[JobEnded](f),
		as[UsageChanged](f), as[TitleChanged](f), as[PlanChanged](f), as[Counted](f), as[ToolsActivated](f), as[HostsNamed](f),
		as[ModeChanged](f), as[OptionsChanged](f), as[CommandsChanged](f), as[SandboxFound](f), as[Notice](f),
	} {
		if read != nil {
			return read()
		}
	}
	return nil, errors.New("unknown type")
}

// as returns a function that decodes the form as an event of type T; nil when it is of another type.
func as[T Event](f *eventForm) func() (Event, error) {
	var e T
	if fmt.Sprintf("%T", e)[len("transcript."):] != f.Type {
		return nil
	}
	return func() (Event, error) {
		err := f.fields(&e)
		return e, err
	}
}

// withCard decodes the fields of an event and the content of its card.
func (f *eventForm) withCard(into any, card *kinds.Card) (err error) {
	if err = f.fields(into); err == nil {
		card.Content, err = f.contents()
	}
	return err
}

func (f *eventForm) fields(into any) error {
	if f.Fields == nil {
		return nil
	}
	return json.Unmarshal(f.Fields, into)
}

func (f *eventForm) contents() (list []kinds.Content, err error) {
	for i, form := range f.Content {
		content, err := form.content()
		if err != nil {
			return nil, fmt.Errorf("content %d: %w", i, err)
		}
		list = append(list, content)
	}
	return list, nil
}
