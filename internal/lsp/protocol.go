package lsp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The parts of the Language Server Protocol that are spoken here.

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type document struct {
	URI string `json:"uri"`
}

type documentVersion struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type documentItem struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

type openParams struct {
	TextDocument documentItem `json:"textDocument"`
}

type changeParams struct {
	TextDocument   documentVersion `json:"textDocument"`
	ContentChanges []wholeText     `json:"contentChanges"`
}

type wholeText struct {
	Text string `json:"text"`
}

type documentParams struct {
	TextDocument document `json:"textDocument"`
}

type watchedParams struct {
	Changes []watched `json:"changes"`
}

type watched struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// The kinds of a watched file's change.
const (
	fileChanged = 2
	fileDeleted = 3
)

type placeParams struct {
	TextDocument document        `json:"textDocument"`
	Position     position        `json:"position"`
	Context      *referenceScope `json:"context,omitempty"`
}

type referenceScope struct {
	IncludeDeclaration bool `json:"includeDeclaration"`
}

// wireLocation is a Location or a LocationLink.
type wireLocation struct {
	URI       string `json:"uri"`
	Range     span   `json:"range"`
	TargetURI string `json:"targetUri"`
	Target    span   `json:"targetSelectionRange"`
}

// decodeLocations reads what a server answers to a question for places: null,
// one, or a list of either kind.
func decodeLocations(raw json.RawMessage) ([]wireLocation, error) {
	raw = bytes.TrimSpace(raw)
	var list []wireLocation
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '[':
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("decode locations: %w", err)
		}
	default:
		var one wireLocation
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, fmt.Errorf("decode location: %w", err)
		}
		list = []wireLocation{one}
	}
	for i, l := range list {
		if l.TargetURI != "" {
			list[i] = wireLocation{URI: l.TargetURI, Range: l.Target}
		}
	}
	return list, nil
}

type wireDiagnostic struct {
	Range    span            `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code"` // a number or a string
	Source   string          `json:"source"`
	Message  string          `json:"message"`
}

// severity is the word for a number of the protocol; a server that gives none
// leaves the choice to us.
func (d wireDiagnostic) severity() string {
	switch d.Severity {
	case 2:
		return "warning"
	case 3:
		return "information"
	case 4:
		return "hint"
	}
	return "error"
}

func (d wireDiagnostic) code() string {
	var text string
	if json.Unmarshal(d.Code, &text) == nil {
		return text
	}
	return string(d.Code)
}

type publishParams struct {
	URI         string           `json:"uri"`
	Version     *int             `json:"version"`
	Diagnostics []wireDiagnostic `json:"diagnostics"`
}

type diagnosticReport struct {
	Items []wireDiagnostic `json:"items"`
}

type progressParams struct {
	Token json.RawMessage `json:"token"`
	Value struct {
		Kind string `json:"kind"`
	} `json:"value"`
}

type initializeResult struct {
	Capabilities struct {
		PositionEncoding   encoding        `json:"positionEncoding"`
		DiagnosticProvider json.RawMessage `json:"diagnosticProvider"`
	} `json:"capabilities"`
}

// offered reports whether a capability is there: true, or options.
func offered(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "false"
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type configurationParams struct {
	Items []struct {
		Section string `json:"section"`
	} `json:"items"`
}
