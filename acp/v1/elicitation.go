package v1

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/mcp"
	"acp-agent/tools"
)

// elicitor shows the user the forms and addresses of MCP servers, if the client can.
type elicitor struct {
	*link
	client client
}

var _ mcp.Person = (*elicitor)(nil)

// Can implements mcp.Person.
func (e *elicitor) Can() (forms, addresses bool) { return e.client.forms, e.client.addresses }

// Visit implements mcp.Person.
func (e *elicitor) Visit(ctx context.Context, v mcp.Visit) (mcp.Answer, func(), error) {
	var id schema.ElicitationId // of the last request
	action, _, err := e.elicit(ctx, v.CallID, func() any {
		id = schema.ElicitationId("visit_" + rand.Text())
		return &schema.CreateElicitationRequest{
			Mode: schema.ElicitationModeURL, Message: prose(v.Message), ElicitationID: id, URL: v.Address,
			SessionID: schema.SessionId(e.session), ToolCallID: schema.ToolCallId(v.CallID),
		}
	})
	done := func() {
		// When the connection is closed, the notification is not needed.
		_ = e.translator.out.conn.Notify(schema.MethodElicitationComplete, &schema.CompleteElicitationNotification{ElicitationID: id})
	}
	return mcp.Answer{Action: action}, done, err
}

// Fill implements mcp.Person. It refuses a form that asks for a secret: the values go to the
// server as text, and a server that needs a secret can name an address instead (R77).
func (e *elicitor) Fill(ctx context.Context, f mcp.Form) (mcp.Answer, error) {
	if secretWanted(f) {
		return mcp.Answer{}, errors.New("a form must not ask for a secret, such as a password or a key; use the mode url")
	}
	form := &schema.ElicitationSchema{Properties: map[string]schema.ElicitationPropertySchema{}}
	for _, field := range f.Fields {
		form.Properties[field.Name] = propertyOf(field)
		if field.Required {
			form.Required = append(form.Required, field.Name)
		}
	}
	params := &schema.CreateElicitationRequest{
		Mode: schema.ElicitationModeForm, Message: prose(f.Message), RequestedSchema: form,
		SessionID: schema.SessionId(e.session), ToolCallID: schema.ToolCallId(f.CallID),
	}
	action, content, err := e.elicit(ctx, f.CallID, func() any { return params })
	return mcp.Answer{Action: action, Content: content}, err
}

// elicit asks the client. An unknown action counts as cancel.
func (e *elicitor) elicit(ctx context.Context, callID string, params func() any) (action string, content map[string]any, err error) {
	var response schema.CreateElicitationResponse
	asked := question{callID: callID, method: schema.MethodElicitationCreate, announcement: asksQuestion, params: params}
	if err := e.ask(ctx, asked, &response); err != nil {
		if wire, ok := errors.AsType[*rpc.Error](err); ok && wire.Code == rpc.CodeRequestCancelled {
			return mcp.Cancel, nil, nil
		}
		return "", nil, fmt.Errorf("the editor could not ask the user: %w", err)
	}
	switch response.Action {
	case schema.ElicitationActionAccept:
		content = map[string]any{}
		for name, value := range response.Content {
			content[name] = plainValue(value.Value)
		}
		return mcp.Accept, content, nil
	case schema.ElicitationActionDecline:
		return mcp.Decline, nil, nil
	}
	return mcp.Cancel, nil, nil
}

// plainValue is a value of a form, with json.Number as a number.
func plainValue(value any) any {
	number, ok := value.(json.Number)
	if !ok {
		return value
	}
	if n, err := number.Int64(); err == nil {
		return n
	}
	n, err := number.Float64()
	if err != nil {
		return number.String() // too large; the schema of the form refuses it
	}
	return n
}

// secretWanted reports whether a text field asks for a secret, by its own texts or those of
// the form.
func secretWanted(f mcp.Form) bool {
	var asked []tools.Question
	for _, field := range f.Fields {
		if field.Kind == mcp.Text {
			asked = append(asked,
				tools.Question{Header: field.Name, Question: field.Title}, tools.Question{Header: field.Title, Question: field.Description},
				tools.Question{Question: f.Message})
		}
	}
	return secretAsked(asked) != ""
}

// serverNotice stands below every text field.
const serverNotice = "Do not enter passwords or keys: answers go to the server."

// propertyOf is a field in the form of the protocol.
func propertyOf(f mcp.Field) schema.ElicitationPropertySchema {
	switch f.Kind {
	case mcp.Number:
		return schema.NumberPropertySchema{
			Title: f.Title, Description: f.Description, Minimum: f.Minimum, Maximum: f.Maximum, Default: defaultOf[float64](f),
		}
	case mcp.Integer:
		return schema.IntegerPropertySchema{
			Title: f.Title, Description: f.Description, Minimum: whole(f.Minimum, math.Ceil), Maximum: whole(f.Maximum, math.Floor),
			Default: whole(defaultOf[float64](f), math.Trunc),
		}
	case mcp.Boolean:
		return schema.BooleanPropertySchema{Title: f.Title, Description: f.Description, Default: defaultOf[bool](f)}
	case mcp.Choice:
		return schema.StringPropertySchema{Title: f.Title, Description: f.Description, OneOf: valuesOf(f.Options), Default: defaultOf[string](f)}
	case mcp.Choices:
		property := schema.MultiSelectPropertySchema{
			Title: f.Title, Description: f.Description, Items: schema.TitledMultiSelectItems{AnyOf: valuesOf(f.Options)},
			MinItems: count[uint64](f.Least), MaxItems: count[uint64](f.Most),
		}
		if chosen := defaultOf[[]string](f); chosen != nil {
			property.Default = *chosen
		}
		return property
	}
	description := serverNotice
	if f.Description != "" {
		description = f.Description + "\n\n" + serverNotice
	}
	return schema.StringPropertySchema{
		Title: f.Title, Description: description, MinLength: count[uint32](f.Least), MaxLength: count[uint32](f.Most),
		Format: schema.StringFormat(f.Format), Default: defaultOf[string](f),
	}
}

func valuesOf(options []mcp.Option) []schema.EnumOption {
	list := make([]schema.EnumOption, len(options))
	for i, option := range options {
		list[i] = schema.EnumOption{Const: option.Value, Title: option.Title}
	}
	return list
}

// defaultOf is the default of a field, nil when it has none.
func defaultOf[T any](f mcp.Field) *T {
	if value, ok := f.Default.(T); ok {
		return &value
	}
	return nil
}

// whole is a bound of whole numbers, or nil for a bound that is too large.
func whole(bound *float64, round func(float64) float64) *int64 {
	if bound == nil || math.Abs(*bound) > 1<<53 || math.IsNaN(*bound) {
		return nil
	}
	return pointer(int64(round(*bound)))
}

// count is a bound of a length, or nil for a bound that is too large.
func count[T uint32 | uint64](bound *int) *T {
	if bound == nil || *bound < 0 || *bound > math.MaxInt32 {
		return nil
	}
	return pointer(T(*bound))
}
