package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"acp-agent/model"
	"acp-agent/transcript"
)

// variable is the shape of what may stand in ${}.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(cwd|user|last_result|match\.\d{1,2}|sidecar\.\d{1,4}|result\.\d{1,4}(\.[^.]+)*)$`)
})

// checkVariable stands for the values while a script is loaded.
func checkVariable(name string) (string, error) {
	if !variable().MatchString(name) {
		return "", fmt.Errorf("unknown variable ${%s}", name)
	}
	return "", nil
}

// expand replaces each ${name} by its value, and $${ by ${.
func expand(text string, value func(name string) (string, error)) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			b.WriteString(before + "{")
			text = after
			continue
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed {
			return "", fmt.Errorf("%q is not closed", "${"+after)
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(before + v)
		text = rest
	}
}

// scope is what the variables of one request mean.
type scope struct {
	req   *model.Request
	user  string
	match []string
	calls []*transcript.ToolPart // since the latest prompt
	cwd   func(*model.Request) string
}

func newScope(req *model.Request, prompt *prompt, sc *scene, cwd func(*model.Request) string) *scope {
	s := &scope{req: req, user: prompt.text, cwd: cwd}
	if sc.when != nil {
		s.match = sc.when.FindStringSubmatch(prompt.text)
	}
	for _, m := range req.Messages[prompt.next:] {
		s.calls = append(s.calls, m.Calls()...)
	}
	return s
}

// value answers a variable of the form that checkVariable lets pass.
func (s *scope) value(name string) (string, error) {
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "cwd":
		if s.cwd == nil {
			return "", fmt.Errorf("${cwd} is not known here")
		}
		return s.cwd(s.req), nil
	case "user":
		return s.user, nil
	case "match":
		n, err := strconv.Atoi(rest)
		if err != nil || n >= len(s.match) {
			return "", fmt.Errorf("${%s}: \"when\" has no such group", name)
		}
		return s.match[n], nil
	case "last_result":
		if len(s.calls) == 0 {
			return "", fmt.Errorf("${last_result}: no tool was called since the prompt")
		}
		return s.calls[len(s.calls)-1].Text, nil
	}
	number, path, deep := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	if err != nil || n >= len(s.calls) {
		return "", fmt.Errorf("${%s}: %d tools were called since the prompt", name, len(s.calls))
	}
	if kind == "sidecar" {
		if result := s.calls[n].Result; result != nil && result.Metadata.OutputPath != "" {
			return result.Metadata.OutputPath, nil
		}
		return "", fmt.Errorf("${%s}: the result was not cut", name)
	}
	if !deep {
		return s.calls[n].Text, nil
	}
	v, err := field(s.calls[n].Result, path)
	if err != nil {
		return "", fmt.Errorf("${%s}: %w", name, err)
	}
	return v, nil
}

// quoted is value for a place within a JSON string.
func (s *scope) quoted(name string) (string, error) {
	v, err := s.value(name)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return string(text[1 : len(text)-1]), nil
}

// field reads a dotted path of a result's data: text as it is, anything else as
// JSON.
func field(result *transcript.Envelope, path string) (string, error) {
	if result == nil || len(result.Data) == 0 {
		return "", fmt.Errorf("the call has no result data")
	}
	data := result.Data
	for key := range strings.SplitSeq(path, ".") {
		next, err := child(data, key)
		if err != nil {
			return "", err
		}
		data = next
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text, nil
	}
	return string(data), nil
}

func child(data json.RawMessage, key string) (json.RawMessage, error) {
	if n, err := strconv.Atoi(key); err == nil {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) == nil && n >= 0 && n < len(list) {
			return list[n], nil
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil || object[key] == nil {
		return nil, fmt.Errorf("no field %q in %.200s", key, data)
	}
	return object[key], nil
}
