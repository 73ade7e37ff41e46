package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/tools"
)

// AmplifierTool is a tool in Amplifier's shape (R7). Input is one JSON object.
// A failure is a result with success false; an error, and a panic, become one.
type AmplifierTool interface {
	Name() string
	Description() string
	Execute(ctx context.Context, input json.RawMessage) (AmplifierResult, error)
}

// InputSchemer is what an AmplifierTool may be besides: one that says which
// arguments it takes, as JSON Schema. Without it, and with an empty schema, any
// object is taken.
type InputSchemer interface {
	InputSchema() json.RawMessage
}

// AmplifierResult is the result of an AmplifierTool. Its zero value is a
// failure that does not say why.
type AmplifierResult struct {
	Success bool `json:"success"`
	Output  any  `json:"output"`
	// Error holds "message", "type", and whatever else is known.
	Error map[string]any `json:"error,omitempty"`
	// Metadata is the extra key of the package comment.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// UnmarshalJSON takes success for true when it is left out. Numbers keep their
// digits.
func (r *AmplifierResult) UnmarshalJSON(data []byte) error {
	type plain AmplifierResult
	p := plain{Success: true}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&p); err != nil {
		return err
	}
	*r = AmplifierResult(p)
	return nil
}

// FromAmplifier makes a tool of one in Amplifier's shape. It refuses one without
// name or description, whose schema is not an object's, or that panics when it
// is asked for them.
func FromAmplifier(t AmplifierTool) (tool tools.Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("tool panicked when it was asked to describe itself: %v", p)
		}
	}()
	tool.ID, tool.Description = t.Name(), t.Description()
	if tool.ID == "" || strings.TrimSpace(tool.Description) == "" {
		return tool, fmt.Errorf("tool %q: name or description is missing", tool.ID)
	}
	var schema json.RawMessage
	if s, ok := t.(InputSchemer); ok {
		schema = s.InputSchema()
	}
	if tool.Parameters, err = Schema(schema); err != nil {
		return tool, fmt.Errorf("tool %q: %w", tool.ID, err)
	}
	tool.Run = func(ctx context.Context, _ tools.Runtime, args tools.Args) (*tools.Result, error) {
		return execute(ctx, t, args.Raw())
	}
	return tool, nil
}

// Schema reads the JSON Schema of a tool's arguments as foreign tools give it:
// one that is absent, null or empty, or that leaves out its type, is an
// object's (R7).
func Schema(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) == 0 || isNull(raw) {
		return &jsonschema.Schema{Type: "object"}, nil
	}
	if !isObject(raw) {
		return nil, fmt.Errorf("the input schema must be a JSON object")
	}
	if err := tools.CheckSchemaLoops(raw); err != nil { // before it is read, which takes long of a deep one
		return nil, fmt.Errorf("input schema: %w", err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if schema.Type == "" && len(schema.Types) == 0 {
		schema.Type = "object"
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("the input schema must be of type object")
	}
	if _, err := schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return &schema, nil
}

func execute(ctx context.Context, t AmplifierTool, args json.RawMessage) (result *tools.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, typed(fmt.Sprintf("tool %s panicked: %v", t.Name(), p), p)
		}
	}()
	answer, err := t.Execute(ctx, args)
	if err != nil {
		return nil, typed(err.Error(), err)
	}
	record, err := json.Marshal(answer)
	if err != nil {
		return nil, typed("the tool's result is no JSON: "+err.Error(), err)
	}
	outcome, err := DecodeAmplifier(record)
	if err != nil {
		return nil, typed(err.Error(), err)
	}
	return outcome.Result()
}

// typed is a failure with the type of what caused it, as Amplifier has it.
func typed(message string, cause any) *tools.Error {
	return &tools.Error{Kind: tools.Backend, Message: message, Err: &Foreign{Type: fmt.Sprintf("%T", cause)}}
}

// ToAmplifier makes a tool of ours callable in Amplifier's shape, in one
// runtime. Arguments pass the tool's schema first; every failure, a panic
// included, is a result with success false. The error says that the tool is not
// sound.
func ToAmplifier(tool tools.Tool, rt tools.Runtime) (AmplifierTool, error) {
	registry, err := tools.NewRegistry(tool)
	if err != nil {
		return nil, err
	}
	entry, _ := registry.Get(tool.ID)
	return &ours{entry: entry, rt: rt}, nil
}

type ours struct {
	entry *tools.Entry
	rt    tools.Runtime
}

func (o *ours) Name() string                 { return o.entry.ID }
func (o *ours) Description() string          { return o.entry.Description }
func (o *ours) InputSchema() json.RawMessage { return o.entry.Schema() }

// Execute implements AmplifierTool; its error is always nil.
func (o *ours) Execute(ctx context.Context, input json.RawMessage) (AmplifierResult, error) {
	record, err := EncodeAmplifier(OutcomeOf(o.run(ctx, input)))
	if err != nil {
		record, _ = EncodeAmplifier(failedWith(err)) // an ended outcome can always be written
	}
	var result AmplifierResult
	if err := json.Unmarshal(record, &result); err != nil {
		return AmplifierResult{Error: map[string]any{"message": err.Error()}}, nil
	}
	return result, nil
}

func (o *ours) run(ctx context.Context, input json.RawMessage) (result *tools.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, typed(fmt.Sprintf("tool %s panicked: %v", o.entry.ID, p), p)
		}
	}()
	args, err := o.entry.RunPreprocess(tools.NewArgs(input), o.rt.Session().Env)
	if err != nil {
		return nil, err
	}
	if err := o.entry.Validate(args); err != nil {
		return nil, err
	}
	return o.entry.Run(ctx, o.rt, args)
}
