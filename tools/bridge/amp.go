package bridge

import (
	"errors"
	"fmt"
	"slices"

	"acp-agent/transcript"
)

// DecodeAmp reads a record of Amp's family: any of the seven statuses. A record
// without a status, with an unknown one, or with an error that is not an object is
// an error.
func DecodeAmp(data []byte) (Outcome, error) {
	members, err := parseObject(data)
	if err != nil {
		return Outcome{}, fmt.Errorf("bridge: Amp result: %w", err)
	}
	o := Outcome{Form: Form{Keys: members.names()}}
	i := slices.IndexFunc(members, func(m member) bool { return m.name == "status" })
	if i < 0 {
		return Outcome{}, errors.New(`bridge: Amp result: "status" is missing`)
	}
	status, _ := asText(members[i].raw)
	o.State = transcript.State(status)
	switch {
	case !slices.Contains(transcript.States(), o.State):
		return Outcome{}, fmt.Errorf("bridge: Amp result: unknown status %.80s", members[i].raw)
	case o.State == transcript.Done:
		o.Envelope = &transcript.Envelope{Type: transcript.Output}
	case o.State.Terminal():
		o.Envelope = &transcript.Envelope{Type: transcript.Error}
	}
	// The error first: whether it has a key "result" decides where a result goes.
	for _, m := range members {
		if m.name == "error" && o.failed() && !isNull(m.raw) {
			if err := o.decodeError(m.raw); err != nil {
				return Outcome{}, fmt.Errorf("bridge: Amp result: %w: %w", errNoObject, err)
			}
		}
	}
	for _, m := range members {
		o.ampMember(m)
	}
	o.tidy()
	return o, nil
}

func (o *Outcome) failed() bool { return o.Envelope != nil && o.Envelope.Type == transcript.Error }

func (o *Outcome) ampMember(m member) {
	switch {
	case m.name == "status", m.name == "error" && (o.failed() || isNull(m.raw)):
	case o.Envelope == nil:
		o.Form.keep(m.name, m.raw)
	case m.name == "result" && !o.failed():
		o.Envelope.Data = m.raw
	case m.name == "result" && !isNull(m.raw):
		o.decodeLeftover(m.name, m.raw)
	case m.name == "result":
	case m.name == "trackFiles":
		o.decodeTrackFiles(m.raw)
	case m.name == "metadata":
		o.decodeMetadata(amp(), m.raw)
	default:
		o.Form.keep(m.name, m.raw)
	}
}

// EncodeAmp writes an outcome as a record of Amp's family. The error says that
// the outcome has neither an envelope nor a state.
func EncodeAmp(o Outcome) ([]byte, error) {
	envelope, err := o.envelope()
	if err != nil {
		return nil, fmt.Errorf("bridge: Amp result: %w", err)
	}
	d, state := amp(), o.state()
	members := object{{name: "status", raw: quote(string(state))}}
	switch {
	case !state.Terminal():
		return members.arrange(o.Form.Keys, o.Form.Extra).encode(), nil
	case state == transcript.Done:
		members = append(members, d.dataMember(envelope))
	default:
		if raw, ok := d.leftover(envelope, o.Form); ok {
			members = append(members, member{name: d.result, raw: raw})
		}
		members = append(members, d.errorMember(envelope, o.Form))
	}
	members = append(members, trackFilesMember(envelope.Metadata.TrackFiles), d.metadataMember(state, envelope))
	return members.arrange(o.Form.Keys, o.Form.Extra).encode(), nil
}

func (d dialect) dataMember(e transcript.Envelope) member {
	return member{name: d.result, raw: e.Data, idle: e.Data == nil}
}
