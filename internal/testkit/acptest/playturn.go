package acptest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The statements of a script that belong to a turn.

func (p *player) prompt(rest string) {
	p.tb.Helper()
	if p.session == nil {
		p.fatal("there is no session")
	}
	blocks := []any{map[string]any{"type": "text", "text": rest}}
	if strings.HasPrefix(rest, "[") {
		blocks = nil
		if err := json.Unmarshal([]byte(rest), &blocks); err != nil {
			p.fatal("blocks: %v", err)
		}
	}
	p.turns = append(p.turns, p.session.PromptBlocks(blocks...))
}

// beside does not wait for the prompts before. One that is queued after a turn which
// waits for it is never answered.
func (p *player) beside(text string) {
	p.tb.Helper()
	p.session.Prompt(text).Ends("end_turn")
}

func (p *player) withdraw(string) {
	p.tb.Helper()
	if len(p.turns) == 0 {
		p.fatal("no prompt is waiting for its end")
	}
	latest := p.turns[len(p.turns)-1]
	p.Notify(methodCancelCall, fmt.Sprintf(`{"requestId":%s}`, latest.id))
	latest.Wait()
}

func (p *player) expect(rest string) {
	p.tb.Helper()
	kind, conditions, _ := strings.Cut(rest, " ")
	fits := p.conditions(conditions)
	expect := p.Expect
	if p.user != nil {
		expect = p.expectMaybe
	}
	expect(rest, func(m *Message) bool {
		got, update := m.Update()
		if got == "" {
			got, update = m.Method, map[string]any{}
			if params, ok := m.params().(map[string]any); ok {
				update = params
			}
		}
		return got == kind && (p.session == nil || m.Session() == p.session.ID) && fits(update)
	})
}

// conditions parses NAME=TEXT and NAME~TEXT; a text with spaces stands in
// quotes.
func (p *player) conditions(text string) func(any) bool {
	p.tb.Helper()
	var all []func(any) bool
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := strings.IndexAny(text, "=~")
		if end < 1 {
			p.fatal("%q is no condition", text)
		}
		name, exact := text[:end], text[end] == '='
		var want string
		want, text = value(text[end+1:])
		all = append(all, func(v any) bool {
			got := at(v, name)
			if got == nil {
				return false
			}
			return textOf(got) == want || !exact && strings.Contains(textOf(got), want)
		})
	}
	return func(v any) bool {
		for _, holds := range all {
			if !holds(v) {
				return false
			}
		}
		return true
	}
}

// value takes a word, or a quoted text, off a line.
func value(line string) (value, rest string) {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		value, rest, _ = strings.Cut(quoted, `"`)
		return value, rest
	}
	value, rest, _ = strings.Cut(line, " ")
	return value, rest
}

// permission returns the open permission request, or waits for the next one;
// its tool call has to meet the conditions.
func (p *player) permission(conditions string) *Permission {
	p.tb.Helper()
	fits := p.conditions(conditions)
	open := p.open
	p.open = nil
	if open == nil {
		open = p.NextPermission()
	}
	if !fits(open.Get("toolCall")) {
		p.fatal("permission is asked for another call: %s", encode(open.Get("toolCall")))
	}
	return open
}

func (p *player) asked(conditions string) {
	p.tb.Helper()
	p.open = nil // it may have been withdrawn since
	p.open = p.permission(conditions)
}

func (p *player) choose(verdict string) func(string) {
	return func(rest string) {
		p.tb.Helper()
		scope, conditions, _ := strings.Cut(rest, " ")
		if p.user != nil {
			p.press(verdict + "_" + scope)
			return
		}
		open := p.permission(conditions)
		if !open.Choose(verdict + "_" + scope) {
			p.fatal("there is no option %s %s among %s", verdict, scope, encode(open.Get("options")))
		}
	}
}

func (p *player) failPermission(rest string) {
	p.tb.Helper()
	var code int
	number, text, _ := strings.Cut(rest, " ")
	if _, err := fmt.Sscanf(number, "%d", &code); err != nil {
		p.fatal("%q is no code", number)
	}
	p.permission("").Fail(code, text)
}
