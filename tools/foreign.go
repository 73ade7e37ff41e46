package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// foreignName is a name of another agent and the tool that claims it.
type foreignName struct {
	ForeignName
	entry *Entry
}

func (r *Registry) addForeign(entry *Entry) {
	if entry.Accepts == nil || entry.Foreign() {
		return
	}
	for _, name := range entry.Accepts.Names {
		key := fold(name.Name)
		r.foreign[key] = append(r.foreign[key], foreignName{name, entry})
	}
}

// fromElsewhere finds the tool that is meant by a name that no tool has: another
// spelling of a name, or the name of another agent's tool. Without arguments, as
// at the start of a call, it is the first that claims the name.
func (r *Registry) fromElsewhere(name string, args json.RawMessage, offered func(*Entry) bool) (*Entry, json.RawMessage, error) {
	plain := plainName(name)
	if a, ok := r.names[plain]; ok {
		mapped, err := a.translate(r.tools[a.id], args)
		return r.tools[a.id], mapped, err
	}
	if entry := r.spelledAs(plain); entry != nil {
		mapped, err := alias{id: entry.ID}.translate(entry, args)
		return entry, mapped, err
	}
	claims := slices.Clone(r.foreign[fold(plain)])
	slices.SortStableFunc(claims, func(a, b foreignName) int { return cmp.Compare(len(b.When), len(a.When)) }) // the particular first
	for _, claim := range claims {
		rest, ok := claim.matches(args)
		switch {
		case !ok:
			continue
		case claim.Answer != "":
			return nil, nil, &Error{Kind: BadInput, Message: fmt.Sprintf("there is no tool %q", name), Hint: claim.Answer}
		}
		mapped, err := alias{id: claim.entry.ID}.translate(claim.entry, rest)
		return claim.entry, mapped, err
	}
	if len(claims) > 0 {
		return nil, nil, &Error{
			Kind: BadInput, Message: fmt.Sprintf("there is no tool %q, and it is not clear from the arguments which one is meant", name),
			Hint: r.suggest(name, offered),
		}
	}
	return nil, nil, &Error{Kind: BadInput, Message: fmt.Sprintf("unknown tool %q", name), Hint: r.suggest(name, offered)}
}

// matches reports whether a call has what the claim asks for, and takes it out.
func (f foreignName) matches(args json.RawMessage) (json.RawMessage, bool) {
	if len(f.When) == 0 && f.Alone == nil || args == nil {
		return args, true
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil {
		return args, len(f.When) == 0
	}
	if f.Alone != nil && len(object) == 0 {
		return f.Alone, true
	}
	for key, want := range f.When {
		var has string
		raw, given := object[key]
		if given && json.Unmarshal(raw, &has) != nil {
			has = string(raw) // a boolean or a number
		}
		if !given || want != "" && !strings.EqualFold(has, want) {
			return nil, false
		}
		if want != "" {
			delete(object, key)
		}
	}
	rest, err := json.Marshal(object)
	return rest, err == nil
}

// spelledAs finds the one tool of ours whose id or alias differs from name in case
// and separators alone.
func (r *Registry) spelledAs(name string) *Entry {
	var found *Entry
	for _, entry := range r.ordered {
		if entry.Foreign() {
			continue
		}
		names := []string{entry.ID}
		for _, a := range entry.Aliases {
			names = append(names, a.Name)
		}
		for _, own := range names {
			if fold(own) != fold(name) || found == entry {
				continue
			}
			if found != nil {
				return nil
			}
			found = entry
		}
	}
	return found
}

// plainName takes off what servers and models put around the name of a tool: a
// namespace, the number of the call, a mark of the chat template that leaked.
func plainName(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "<|")
	if head, number, found := strings.Cut(name, ":"); found && number != "" && strings.Trim(number, "0123456789") == "" {
		name = head
	}
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		name = name[slash+1:]
	}
	for _, prefix := range []string{"power---", "functions.", "function.", "tools.", "tool.", "default_api.", "default_api:", "repo_browser.", "container."} {
		name = strings.TrimPrefix(name, prefix)
	}
	name = strings.Trim(name, " \t\r\n\"'`()")
	if half := len(name) / 2; half > 3 && name[:half] == name[half:] {
		name = name[:half] // streamed twice
	}
	return name
}

// foreignFields are what arguments mean under a name of another agent.
func (e *Entry) foreignFields(name string) map[string]Field {
	if e.Accepts == nil {
		return nil
	}
	for _, n := range e.Accepts.Names {
		if len(n.Fields) > 0 && fold(n.Name) == fold(plainName(name)) {
			return n.Fields
		}
	}
	return nil
}
