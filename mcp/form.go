package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/kinds"
)

// Form is what a server wants a user to fill in.
type Form struct {
	// CallID is the tool call for which it is asked, "" when none is alone.
	CallID string
	// Message names the server, and says what it asks.
	Message string
	// Fields are sorted by name; there may be none, and then a yes is wanted.
	Fields []Field
}

// Kind is what a field takes.
type Kind string

// The kinds of fields.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Choice  Kind = "choice"  // one of Options
	Choices Kind = "choices" // any of Options
)

// Field is one field of a form. Its texts are cleaned and bounded.
type Field struct {
	Name, Title, Description string
	Kind                     Kind
	Required                 bool
	// Options are what a Choice or Choices offer.
	Options []Option
	// Format of a Text is email, uri, date or date-time; "" is any.
	Format string
	// Least and Most bound the length of a Text in characters, and of Choices.
	Least, Most *int
	// Minimum and Maximum bound a Number or an Integer.
	Minimum, Maximum *float64
	// Default is a text, a float64, a bool or a list of texts; nil is none.
	Default any
}

// Option is a value to choose, and what it is called.
type Option struct{ Value, Title string }

// The limits of a form.
const (
	maxFields  = 50
	maxOptions = 200
	maxValue   = 200 // characters of a name or a value
)

// formOf reads the flat schema of a form.
func formOf(wanted any) (Form, error) {
	form := Form{}
	if wanted == nil {
		return form, nil
	}
	raw, err := json.Marshal(wanted)
	if err != nil || len(raw) > maxSchema {
		return form, fmt.Errorf("the form is larger than %d KiB", maxSchema>>10)
	}
	schema := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, schema); err != nil {
		return form, errors.New("the form cannot be read")
	}
	if len(schema.Properties) > maxFields {
		return form, fmt.Errorf("the form has more than %d fields", maxFields)
	}
	for name, property := range schema.Properties {
		field, err := fieldOf(name, property)
		if err != nil {
			return form, fmt.Errorf("field %q: %w", kinds.Line(name, maxValue), err)
		}
		field.Required = slices.Contains(schema.Required, name)
		form.Fields = append(form.Fields, field)
	}
	slices.SortFunc(form.Fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return form, nil
}

// errHidden refuses what a user could not read, and would answer with.
var errHidden = fmt.Errorf("a name or a value is empty, hidden or longer than %d characters", maxValue)

// legible reports whether a user can read a name or a value.
func legible(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= maxValue && kinds.Visible(text) == text && !strings.ContainsAny(text, "\n\t")
}

func fieldOf(name string, s *jsonschema.Schema) (Field, error) {
	if s == nil || !legible(name) {
		return Field{}, errHidden
	}
	field := Field{Name: name, Title: kinds.Line(cmp.Or(s.Title, name), maxValue), Description: clean(s.Description, maxFieldText)}
	var err error
	switch s.Type {
	case "string":
		field.Kind, field.Format, field.Least, field.Most = Text, s.Format, s.MinLength, s.MaxLength
		if field.Options, err = optionsOf(s); err == nil && len(field.Options) > 0 {
			field.Kind, field.Format, field.Least, field.Most = Choice, "", nil, nil
		}
		field.Default = defaultOf[string](s)
	case "number", "integer":
		field.Kind, field.Minimum, field.Maximum, field.Default = Kind(s.Type), s.Minimum, s.Maximum, defaultOf[float64](s)
	case "boolean":
		field.Kind, field.Default = Boolean, defaultOf[bool](s)
	case "array":
		field.Kind, field.Least, field.Most, field.Default = Choices, s.MinItems, s.MaxItems, defaultOf[[]string](s)
		if s.Items != nil {
			field.Options, err = optionsOf(s.Items)
		}
		if err == nil && len(field.Options) == 0 {
			err = errors.New("a list offers nothing to choose")
		}
	default:
		err = errors.New("its type is none that a form can have")
	}
	return field, errors.Join(err, field.check())
}

// check refuses a default that a user would not see as it is.
func (f *Field) check() error {
	offered := func(value string) bool {
		return slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value })
	}
	good := true
	switch value := f.Default.(type) {
	case string:
		good = f.Kind == Choice && offered(value) || f.Kind == Text && (value == "" || legible(value))
	case []string:
		good = !slices.ContainsFunc(value, func(v string) bool { return !offered(v) })
	}
	if !good {
		return errors.New("its default cannot be shown")
	}
	return nil
}

// defaultOf is the default of a field, nil when it has none.
func defaultOf[T any](s *jsonschema.Schema) any {
	var value T
	if s.Default == nil || json.Unmarshal(s.Default, &value) != nil {
		return nil
	}
	return value
}

// optionsOf are the values that a schema offers: bare ones, some with names beside them, or
// ones with titles.
func optionsOf(s *jsonschema.Schema) ([]Option, error) {
	var options []Option
	names, _ := s.Extra["enumNames"].([]any)
	for i, value := range s.Enum {
		text, ok := value.(string)
		if !ok {
			return nil, errors.New("a value is no text")
		}
		title := text
		if i < len(names) {
			title, _ = names[i].(string)
		}
		options = append(options, Option{text, title})
	}
	for _, entry := range slices.Concat(s.OneOf, s.AnyOf) {
		if entry == nil || entry.Const == nil {
			return nil, errors.New("a choice has no value")
		}
		text, ok := (*entry.Const).(string)
		if !ok {
			return nil, errors.New("a value is no text")
		}
		options = append(options, Option{text, entry.Title})
	}
	if len(options) > maxOptions {
		return nil, fmt.Errorf("it offers more than %d values", maxOptions)
	}
	for i := range options {
		if !legible(options[i].Value) {
			return nil, errHidden
		}
		options[i].Title = kinds.Line(cmp.Or(strings.TrimSpace(options[i].Title), options[i].Value), maxValue)
	}
	return options, nil
}

// withoutUnknown returns an answer without values that the form has no field for. The library
// checks it against the server's schema.
func (f *Form) withoutUnknown(answer Answer) Answer {
	if answer.Action != Accept {
		return Answer{Action: answer.Action}
	}
	content := map[string]any{}
	for _, field := range f.Fields {
		if value, filled := answer.Content[field.Name]; filled {
			content[field.Name] = value
		}
	}
	return Answer{Action: Accept, Content: content}
}
