package bridge

import (
	"bytes"
	"encoding/json"

	"acp-agent/transcript"
)

// metadata is the one extra key, for what a record has no key for.
type metadata struct {
	State      transcript.State `json:"state,omitempty"`
	DurationMS int64            `json:"duration_ms,omitempty"`
	Truncated  bool             `json:"truncated,omitempty"`
	OutputPath string           `json:"output_path,omitempty"`
	TrackFiles []string         `json:"track_files,omitempty"`
	Kind       string           `json:"kind,omitempty"`
	DeniedBy   string           `json:"deniedBy,omitempty"`
}

// metadataOf is what the record has to carry beside its own keys.
func (d dialect) metadataOf(state transcript.State, e transcript.Envelope) metadata {
	m := metadata{
		DurationMS: e.Metadata.DurationMS, Truncated: e.Metadata.Truncated, OutputPath: e.Metadata.OutputPath,
	}
	if !d.states && (state == transcript.Cancelled || state == transcript.Rejected) {
		m.State = state
	}
	if !d.tracks {
		m.TrackFiles = e.Metadata.TrackFiles
	}
	if e.Type == transcript.Error && e.Error != nil {
		m.Kind, m.DeniedBy = e.Error.Kind, e.Error.DeniedBy
	}
	return m
}

func (d dialect) metadataMember(state transcript.State, e transcript.Envelope) member {
	raw := encode(d.metadataOf(state, e))
	return member{name: "metadata", raw: raw, idle: string(raw) == "{}"}
}

// decodeMetadata reads a metadata key in our own form.
// A value in another form comes from another agent, and is kept as an unknown key.
func (o *Outcome) decodeMetadata(d dialect, raw json.RawMessage) {
	var m metadata
	var compact bytes.Buffer
	if json.Unmarshal(raw, &m) != nil || json.Compact(&compact, raw) != nil {
		o.Form.keep("metadata", raw)
		return
	}
	state, envelope := o.State, *o.Envelope
	envelope.Metadata.DurationMS, envelope.Metadata.Truncated = m.DurationMS, m.Truncated
	envelope.Metadata.OutputPath = m.OutputPath
	if !d.tracks {
		envelope.Metadata.TrackFiles = m.TrackFiles
	}
	if m.State != "" {
		state = m.State
	}
	if envelope.Type == transcript.Error {
		detail := transcript.ErrorDetail{}
		if envelope.Error != nil {
			detail = *envelope.Error
		}
		detail.Kind, detail.DeniedBy = m.Kind, m.DeniedBy
		envelope.Error = &detail
	}
	// Taken only when it would be written the same way again.
	if (Outcome{State: state, Envelope: &envelope}).state() != state ||
		!bytes.Equal(encode(d.metadataOf(state, envelope)), compact.Bytes()) || compact.String() == "{}" {
		o.Form.keep("metadata", raw)
		return
	}
	o.State, o.Envelope = state, &envelope
}

// trackFilesMember is Amp's own key for the files that a call changed.
func trackFilesMember(files []string) member {
	return member{name: "trackFiles", raw: encode(files), idle: files == nil}
}

// decodeTrackFiles takes a list of paths and keeps anything else as it is.
func (o *Outcome) decodeTrackFiles(raw json.RawMessage) {
	var files []string
	var compact bytes.Buffer
	if json.Unmarshal(raw, &files) != nil || json.Compact(&compact, raw) != nil || !bytes.Equal(encode(files), compact.Bytes()) {
		o.Form.keep("trackFiles", raw)
		return
	}
	o.Envelope.Metadata.TrackFiles = files
}
