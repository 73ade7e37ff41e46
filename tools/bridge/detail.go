package bridge

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"acp-agent/transcript"
)

// dialect is what tells the two families of records apart.
type dialect struct {
	// result is the key of the result.
	result string
	// errorKeys are the keys of an error that have fields of their own, in the
	// order in which they are written.
	errorKeys []string
	// states and tracks say that the record has keys for the state and for the
	// tracked files, so that metadata need not carry them.
	states, tracks bool
}

func amp() dialect {
	return dialect{result: "result", errorKeys: []string{"message", "errorCode", "absolutePath", "type"}, states: true, tracks: true}
}

func amplifier() dialect {
	return dialect{result: "output", errorKeys: []string{"message", "type", "errorCode", "absolutePath"}}
}

// detailField is the field that a key of an error has, nil for others.
func detailField(e *transcript.ErrorDetail, name string) *string {
	switch name {
	case "errorCode":
		return &e.Code
	case "absolutePath":
		return &e.AbsolutePath
	case "type":
		return &e.Type
	}
	return nil
}

// decodeError reads a record's error object into the envelope. A value that
// does not fit its field, and a key that has none, is kept among the details.
func (o *Outcome) decodeError(raw json.RawMessage) error {
	members, err := parseObject(raw)
	if err != nil {
		return err
	}
	o.Form.ErrorKeys = members.names()
	for _, m := range members {
		text, isText := asText(m.raw)
		field := detailField(o.detail(), m.name)
		switch {
		case m.name == "message" && isText:
			o.Envelope.ErrorText = text
		case field != nil && text != "":
			*field = text
		default:
			o.keepDetail(m.name, m.raw)
		}
		if m.name == "message" && !isText {
			o.Envelope.ErrorText = string(m.raw)
		}
	}
	return nil
}

// decodeLeftover keeps the result that stands beside an error: an error
// envelope has no data.
func (o *Outcome) decodeLeftover(name string, raw json.RawMessage) {
	if _, taken := o.detail().Details[name]; taken {
		o.Form.keep(name, raw)
		return
	}
	o.keepDetail(name, raw)
}

func (o *Outcome) detail() *transcript.ErrorDetail {
	if o.Envelope.Error == nil {
		o.Envelope.Error = &transcript.ErrorDetail{}
	}
	return o.Envelope.Error
}

func (o *Outcome) keepDetail(name string, raw json.RawMessage) {
	detail := o.detail()
	if detail.Details == nil {
		detail.Details = map[string]json.RawMessage{}
	}
	detail.Details[name] = raw
}

// tidy takes back an error detail that turned out to say nothing.
func (o *Outcome) tidy() {
	if e := o.Envelope; e != nil && e.Error != nil && emptyDetail(*e.Error) {
		e.Error = nil
	}
}

func emptyDetail(e transcript.ErrorDetail) bool {
	return e.Kind == "" && e.Code == "" && e.AbsolutePath == "" && e.DeniedBy == "" && e.Type == "" && len(e.Details) == 0
}

// leftover is the result beside the error: a detail under the result's key,
// unless the record had such a key within its error.
func (d dialect) leftover(e transcript.Envelope, form Form) (json.RawMessage, bool) {
	if e.Error == nil || slices.Contains(form.ErrorKeys, d.result) {
		return nil, false
	}
	raw, ok := e.Error.Details[d.result]
	return raw, ok
}

// errorMember is the error object of an error envelope.
func (d dialect) errorMember(e transcript.Envelope, form Form) member {
	detail := transcript.ErrorDetail{}
	if e.Error != nil {
		detail = *e.Error
	}
	details := maps.Clone(detail.Details)
	if _, outside := d.leftover(e, form); outside {
		delete(details, d.result)
	}
	var members object
	idle := true
	for _, name := range d.errorKeys {
		text := e.ErrorText
		if field := detailField(&detail, name); field != nil {
			text = *field
		}
		m := member{name: name, raw: quote(text), idle: text == "", always: name == "message"}
		if raw, ok := details[name]; ok {
			m.raw, m.idle = raw, false
			delete(details, name)
		}
		idle = idle && m.idle
		members = append(members, m)
	}
	members = members.arrange(form.ErrorKeys, details)
	return member{
		name: "error", raw: members.encode(), always: form.Keys == nil, // listed without a value, it was null
		idle: idle && len(details) == 0 && form.ErrorKeys == nil,
	}
}

var errNoObject = errors.New(`"error" must be an object with a message`)
