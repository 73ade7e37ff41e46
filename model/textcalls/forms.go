package textcalls

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
)

// function reads <function=NAME><parameter=KEY>VALUE</parameter>...</function>, as
// Qwen3-Coder writes calls.
func (p *parser) function() error {
	p.accept("<function=")
	name, rest, found := strings.Cut(p.rest, ">")
	if !found {
		return errNone
	}
	p.rest = rest
	arguments := map[string]any{}
	for {
		p.skip()
		switch {
		case p.accept("</function>"):
			return p.addMap(name, arguments)
		case p.accept("<parameter="):
			key, value, err := p.value("", "</parameter>")
			if err != nil {
				return err
			}
			arguments[key] = value
		default:
			return errNone
		}
	}
}

var attribute = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([a-z_]+)="([^"<>]*)"`)
})

// invoke reads <invoke name="NAME"><parameter name="KEY">VALUE</parameter>...</invoke>,
// as DeepSeek, MiniMax and Claude write calls.
func (p *parser) invoke() error {
	tag, rest, found := strings.Cut(p.rest, ">")
	if !found {
		return errNone
	}
	name := attributes(tag)["name"]
	p.rest = rest
	arguments := map[string]any{}
	for {
		p.skip()
		if p.accept("</invoke>") {
			return p.addMap(name, arguments)
		}
		if !strings.HasPrefix(p.rest, "<parameter ") {
			return errNone
		}
		tag, rest, found := strings.Cut(p.rest, ">")
		if !found {
			return errNone
		}
		p.rest = rest
		has := attributes(tag)
		_, value, err := p.value(has["name"], "</parameter>")
		if err != nil {
			return err
		}
		arguments[has["name"]] = value
		if has["string"] == "false" {
			var parsed any
			if json.Unmarshal([]byte(value), &parsed) != nil {
				return errNone
			}
			arguments[has["name"]] = json.RawMessage(value)
		}
	}
}

func attributes(tag string) map[string]string {
	found := map[string]string{}
	for _, match := range attribute().FindAllStringSubmatch(tag, -1) {
		found[match[1]] = match[2]
	}
	return found
}

// value reads the text of an element, without the line breaks that templates put at its
// ends. Without a key, the key comes first, up to ">".
func (p *parser) value(key, closing string) (name, value string, err error) {
	if key == "" {
		var found bool
		if key, p.rest, found = strings.Cut(p.rest, ">"); !found {
			return "", "", errNone
		}
	}
	value, rest, found := strings.Cut(p.rest, closing)
	switch {
	case !found:
		return "", "", errOpen
	case strings.TrimSpace(key) == "":
		return "", "", errNone
	}
	p.rest = rest
	value = strings.TrimPrefix(value, "\n")
	return strings.TrimSpace(key), strings.TrimSuffix(value, "\n"), nil
}

// keyed reads NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>..., as GLM writes
// calls within <tool_call>.
func (p *parser) keyed(closing string) error {
	end := strings.Index(p.rest, "<")
	if end < 0 {
		return errNone
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	arguments := map[string]any{}
	for {
		p.skip()
		switch {
		case p.accept("<arg_key>"):
			key, rest, found := strings.Cut(p.rest, "</arg_key>")
			if p.rest = rest; !found {
				return errNone
			}
			p.skip()
			if !p.accept("<arg_value>") {
				return errNone
			}
			key, value, err := p.value(key, "</arg_value>")
			if err != nil {
				return err
			}
			arguments[key] = value
		case strings.HasPrefix(p.rest, closing):
			return p.addMap(name, arguments)
		default:
			return errNone
		}
	}
}

// mistral reads what follows [TOOL_CALLS]: a list of calls, or NAME and its arguments.
func (p *parser) mistral() error {
	p.skip()
	if strings.HasPrefix(p.rest, "[") {
		decoder := json.NewDecoder(strings.NewReader(p.rest))
		var list []json.RawMessage
		switch err := decoder.Decode(&list); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errOpen
		case err != nil, len(list) == 0, len(list) > maxCalls:
			return errNone
		}
		p.rest = p.rest[decoder.InputOffset():]
		for _, raw := range list {
			one := &parser{rest: string(raw)}
			if err := one.object(); err != nil {
				return err
			}
			p.calls = append(p.calls, one.calls...)
		}
		return nil
	}
	brace := strings.IndexByte(p.rest, '{')
	if brace < 0 {
		return errNone
	}
	name := strings.TrimSuffix(strings.TrimSpace(p.rest[:brace]), "[ARGS]")
	name, _, _ = strings.Cut(name, "[CALL_ID]")
	decoder := json.NewDecoder(strings.NewReader(p.rest[brace:]))
	var arguments json.RawMessage
	switch err := decoder.Decode(&arguments); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errOpen
	case err != nil:
		return errNone
	}
	p.rest = p.rest[brace+int(decoder.InputOffset()):]
	return p.add(name, string(arguments))
}

func (p *parser) addMap(name string, arguments map[string]any) error {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return errNone
	}
	return p.add(name, string(raw))
}
