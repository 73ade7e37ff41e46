package v1

import (
	"encoding/json"
	"testing"

	"acp-agent/session"
)

// Values stand under their headings, unless the editor would show a heading as a value or one
// of the values has no heading.
func TestSelectOptions(t *testing.T) {
	grouped := []session.Value{{ID: "a/1", Name: "1", Group: "A"}, {ID: "b/1", Name: "1", Group: "B"}, {ID: "a/2", Name: "2", Group: "A"}}
	const flat = `[{"value":"a/1","name":"1"},{"value":"b/1","name":"1"},{"value":"a/2","name":"2"}]`
	for _, tt := range []struct {
		values []session.Value
		editor string
		want   string
	}{
		{grouped, "zed", `[{"group":"A","name":"A","options":[{"value":"a/1","name":"1"},{"value":"a/2","name":"2"}]},{"group":"B","name":"B","options":[{"value":"b/1","name":"1"}]}]`},
		{grouped, "", flat},
		{append(grouped[:2:2], session.Value{ID: "x", Name: "x"}), "zed", `[{"value":"a/1","name":"1"},{"value":"b/1","name":"1"},{"value":"x","name":"x"}]`},
	} {
		got, err := json.Marshal(selectOptions(tt.values, traitsOf(tt.editor).flatOptions))
		if err != nil || string(got) != tt.want {
			t.Errorf("for %q: %s, %v, want %s", tt.editor, got, err, tt.want)
		}
	}
}
