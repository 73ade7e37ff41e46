package projects

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"acp-agent/capability"
	"acp-agent/permissions"
)

// version is the form of a record. A record of a later form is left alone.
const version = 1

// Limits of a record.
const (
	maxRecord = 4 << 20 // bytes of its file
	maxRules  = 1000    // rules kept for one project
)

// Record is what was decided about one project. The zero value is a project that
// nothing was decided about.
//
// It is all that the agent keeps about a project, besides what goes with a session of it (the
// conversation, in store, and the record of its calls, in audit) and the build caches of sandboxed commands (in
// sandbox), which can be deleted.
type Record struct {
	Version int `json:"version"`
	// Path is the canonical path of the project.
	Path string `json:"path"`
	// Rules were kept by "allow for this project", oldest first. All of them allow.
	Rules []permissions.Rule `json:"rules,omitempty"`
	// Trust is nil when the user does not trust the project.
	Trust *Trust `json:"trust,omitempty"`
}

// Trust is the user's trust in a project as it was at one time.
type Trust struct {
	// Hash is that of the Snapshot that was shown.
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
	// Files are those of the Snapshot, to show later what changed.
	Files []File `json:"files,omitempty"`
}

// Trusts reports whether the user trusts the project with exactly this
// content (T4).
func (r Record) Trusts(s Snapshot) bool {
	return r.Trust != nil && s.Hash != "" && r.Trust.Hash == s.Hash
}

// AddRules adds rules, each once. One that is about a tool as it is now takes the place of the
// one that was about it as it was (M4).
func (r *Record) AddRules(rules ...permissions.Rule) error {
	for _, rule := range rules {
		if err := storable(rule); err != nil {
			return err
		}
		r.Rules = slices.DeleteFunc(r.Rules, rule.Renews)
		if slices.ContainsFunc(r.Rules, func(have permissions.Rule) bool { return sameRule(have, rule) }) {
			continue
		}
		if len(r.Rules) >= maxRules {
			return fmt.Errorf("%d rules are kept for this project already; revoke some first", maxRules)
		}
		r.Rules = append(r.Rules, rule)
	}
	return nil
}

// RemoveRule takes a rule away and reports whether it was there.
func (r *Record) RemoveRule(rule permissions.Rule) bool {
	before := len(r.Rules)
	r.Rules = slices.DeleteFunc(r.Rules, func(have permissions.Rule) bool { return sameRule(have, rule) })
	return len(r.Rules) < before
}

// RemoveTrust takes the trust away and reports whether there was any.
func (r *Record) RemoveTrust() bool {
	had := r.Trust != nil
	r.Trust = nil
	return had
}

// sameRule reports whether two rules say the same, whenever they were added.
func sameRule(a, b permissions.Rule) bool {
	return a.Permission == b.Permission && a.Pattern == b.Pattern && a.Action == b.Action
}

func (r Record) empty() bool { return len(r.Rules) == 0 && r.Trust == nil }

// decode reads a record of a project. Its rules are as narrow as on the day they
// were kept, whatever their file says of their source.
func decode(data []byte, project string) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, err
	}
	switch {
	case r.Version > version:
		return Record{}, &laterError{r.Version}
	case r.Version < 1:
		return Record{}, errors.New("it has no version")
	case r.Path != project:
		return Record{}, fmt.Errorf("it is about %q", r.Path)
	}
	for i := range r.Rules {
		r.Rules[i].Source = permissions.SourceAlways
		if err := storable(r.Rules[i]); err != nil {
			return Record{}, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return r, nil
}

// storable refuses what no answer of a user ever stores.
func storable(r permissions.Rule) error {
	switch {
	case r.Action != capability.Allow:
		return fmt.Errorf("it does not allow but says %s", r.Action)
	case r.Permission == "" || r.Permission == "*" || r.Pattern == "":
		return fmt.Errorf("%q of %q is wider than an answer can be", r.Pattern, r.Permission)
	case r.Source != permissions.SourceAlways:
		return fmt.Errorf("its source is %q", r.Source)
	}
	return nil
}

// laterError is a record that a newer version of the agent wrote.
type laterError struct{ version int }

func (e *laterError) Error() string {
	return fmt.Sprintf("it has form %d, which a newer version of the agent wrote; this one knows form %d", e.version, version)
}
