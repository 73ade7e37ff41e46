package bridge

import (
	"encoding/json"
	"fmt"

	"acp-agent/transcript"
)

// DecodeAmplifier reads a record of Amplifier's family. success is true when it
// is left out, as its contract says, and then an error beside it means nothing.
// A success that is not a boolean, or an error that is not an object, is an error.
func DecodeAmplifier(data []byte) (Outcome, error) {
	members, err := parseObject(data)
	if err != nil {
		return Outcome{}, fmt.Errorf("bridge: Amplifier result: %w", err)
	}
	o := Outcome{
		State: transcript.Done, Envelope: &transcript.Envelope{Type: transcript.Output}, Form: Form{Keys: members.names()},
	}
	for _, m := range members {
		switch {
		case m.name != "success" || string(m.raw) == "true":
		case string(m.raw) == "false":
			o.State, o.Envelope.Type = transcript.Failed, transcript.Error
		default:
			return Outcome{}, fmt.Errorf("bridge: Amplifier result: success must be true or false, not %.80s", m.raw)
		}
	}
	for _, m := range members {
		if m.name == "error" && o.failed() && !isNull(m.raw) {
			if err := o.decodeError(m.raw); err != nil {
				return Outcome{}, fmt.Errorf("bridge: Amplifier result: %w: %w", errNoObject, err)
			}
		}
	}
	for _, m := range members {
		o.amplifierMember(m)
	}
	o.tidy()
	return o, nil
}

func (o *Outcome) amplifierMember(m member) {
	switch {
	case m.name == "success", m.name == "error" && (o.failed() || isNull(m.raw)):
	case m.name == "output" && !o.failed():
		o.Envelope.Data = m.raw
	case m.name == "output" && !isNull(m.raw):
		o.decodeLeftover(m.name, m.raw)
	case m.name == "output":
	case m.name == "metadata":
		o.decodeMetadata(amplifier(), m.raw)
	default:
		o.Form.keep(m.name, m.raw)
	}
}

// EncodeAmplifier writes an outcome as a record of Amplifier's family, which
// has no word for a call that has not ended: that is an error.
func EncodeAmplifier(o Outcome) ([]byte, error) {
	envelope, err := o.envelope()
	if err != nil {
		return nil, fmt.Errorf("bridge: Amplifier result: %w", err)
	}
	d, state := amplifier(), o.state()
	var members object
	switch {
	case !state.Terminal():
		return nil, fmt.Errorf("bridge: Amplifier result: a call that is %s has no result yet", state)
	case state == transcript.Done:
		members = object{{name: "success", raw: json.RawMessage("true"), idle: true, always: true}, d.dataMember(envelope)}
	default:
		members = object{{name: "success", raw: json.RawMessage("false")}}
		if raw, ok := d.leftover(envelope, o.Form); ok {
			members = append(members, member{name: d.result, raw: raw})
		}
		members = append(members, d.errorMember(envelope, o.Form))
	}
	members = append(members, d.metadataMember(state, envelope))
	return members.arrange(o.Form.Keys, o.Form.Extra).encode(), nil
}
