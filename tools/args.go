package tools

import (
	"context"
	"encoding/json"
	"sync"
)

// Args are the arguments of one call: their JSON text, and what it decodes to. Copies
// share what was decoded, so whatever looks at a call, from its title to its run, reads
// the same values, and the text is parsed once for each type. No one changes a decoded
// value. Args are safe for concurrent use; the zero value has no arguments.
type Args struct {
	raw    json.RawMessage
	shared *decodedArgs
}

// decodedArgs is what the text of a call's arguments was decoded to.
type decodedArgs struct {
	mu sync.Mutex
	// value is the text as plain JSON with exact numbers, once hasValue is true.
	value    any
	valueErr error
	hasValue bool
	// typed has an typedArgs for each type that was asked for.
	typed []any
	// plan is what the last preview of the call worked out, see DefinePlanned.
	plan any
	// parses counts how often the text was parsed.
	parses int
}

// typedArgs is what the text decodes to as a type.
type typedArgs[A any] struct {
	value A
	err   error
}

// NewArgs returns the arguments that a JSON text has.
func NewArgs[T ~string | ~[]byte](text T) Args {
	return Args{raw: json.RawMessage(text), shared: &decodedArgs{}}
}

// argsOf returns the arguments of a text whose value is known; parses is how often the text
// was parsed for it.
func argsOf(raw json.RawMessage, value any, parses int) Args {
	return Args{raw: raw, shared: &decodedArgs{value: value, hasValue: true, parses: parses}}
}

// Raw is the JSON text.
func (a Args) Raw() json.RawMessage { return a.raw }

// Value is the text as plain JSON, with numbers as json.Number. The error says why it is
// not JSON.
func (a Args) Value() (any, error) {
	if a.shared == nil {
		return strictJSON(a.raw)
	}
	a.shared.mu.Lock()
	defer a.shared.mu.Unlock()
	if !a.shared.hasValue {
		a.shared.value, a.shared.valueErr = strictJSON(a.raw)
		a.shared.hasValue = true
		a.shared.parses++
	}
	return a.shared.value, a.shared.valueErr
}

// Object is the value when it is an object; else nil.
func (a Args) Object() map[string]any {
	value, _ := a.Value() // what is not JSON is not an object
	object, _ := value.(map[string]any)
	return object
}

// Text is the argument of a name when it is a string; else "".
func (a Args) Text(name string) string {
	text, _ := a.Object()[name].(string)
	return text
}

// keepPlan keeps what a preview worked out.
func (a Args) keepPlan(plan any) {
	if a.shared == nil {
		return
	}
	a.shared.mu.Lock()
	defer a.shared.mu.Unlock()
	a.shared.plan = plan
}

// keptPlan is what the last preview worked out; nil when there was none.
func (a Args) keptPlan() any {
	if a.shared == nil {
		return nil
	}
	a.shared.mu.Lock()
	defer a.shared.mu.Unlock()
	return a.shared.plan
}

// Parses is how often the text has been parsed until now, for tests that bound it.
func (a Args) Parses() int {
	if a.shared == nil {
		return 0
	}
	a.shared.mu.Lock()
	defer a.shared.mu.Unlock()
	return a.shared.parses
}

// ArgsAs returns the arguments as a type. An argument of another type is left out, and so is
// everything when the text is malformed: the schema check says what is wrong.
func ArgsAs[A any](a Args) A {
	value, _ := Decode[A](context.Background(), a)
	return value
}

// Decode returns the arguments as a type; the error says what does not fit. Arguments can
// be as large as a file: parsing them ends with ctx, and the error is then its cause.
func Decode[A any](ctx context.Context, a Args) (A, error) {
	if a.shared == nil {
		return decode[A](ctx, a.raw)
	}
	a.shared.mu.Lock()
	defer a.shared.mu.Unlock()
	for _, typed := range a.shared.typed {
		if known, ok := typed.(typedArgs[A]); ok {
			return known.value, known.err
		}
	}
	value, err := decode[A](ctx, a.raw)
	a.shared.parses++
	if ctx.Err() == nil {
		a.shared.typed = append(a.shared.typed, typedArgs[A]{value, err})
	}
	return value, err
}
