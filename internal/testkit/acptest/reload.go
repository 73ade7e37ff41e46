package acptest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Reload starts the agent anew over the home of one that has ended, loads every session of its
// run that a prompt was sent to, and reports where a replay does not lead to what the turns led
// to.
func Reload(tb TB, lines []Line, dir string, o Options) {
	tb.Helper()
	client, sessions := openedIn(lines)
	if client == "" || len(sessions) == 0 {
		return
	}
	o.Played, o.Permission = nil, nil
	a := Start(tb, o)
	defer a.Close()
	a.Request(methodInitialize, client).Wait()
	for _, s := range sessions {
		if !isStored(lines) {
			continue
		}
		from := len(a.Lines())
		m := a.Request(methodLoad, map[string]any{"sessionId": s.id, "cwd": s.cwd, "mcpServers": []any{}}).Wait()
		if m.Error != nil {
			tb.Errorf("load %s: %d %s", s.id, m.Error.Code, m.Error.Message)
			continue
		}
		for _, problem := range fold(lines, s.id, false).differs(fold(a.Lines()[from:], s.id, true)) {
			tb.Errorf("after session/load: %s", problem)
		}
	}
}

const methodLoad = "session/load"

type openedSession struct{ id, cwd string }

// openedIn finds the params of the last initialize of a run, and the sessions that it opened,
// prompted and did not delete.
func openedIn(lines []Line) (client string, sessions []openedSession) {
	cwds := map[string]string{} // by the request
	prompted := map[string]bool{}
	for _, l := range lines {
		m := l.Message
		switch {
		case m == nil:
		case !l.FromAgent && m.Method == methodInitialize:
			client = string(m.Params)
		case !l.FromAgent && m.Method == methodNew:
			cwds[string(m.ID)], _ = m.Get("cwd").(string)
		case !l.FromAgent && m.Method == methodPrompt:
			prompted[m.Session()] = true
		case !l.FromAgent && m.Method == "session/delete":
			delete(prompted, m.Session())
		case l.FromAgent && m.IsResponse():
			if id, _ := m.Get("result.sessionId").(string); id != "" && cwds[string(m.ID)] != "" {
				sessions = append(sessions, openedSession{id, cwds[string(m.ID)]})
			}
		}
	}
	sessions = slices.DeleteFunc(sessions, func(s openedSession) bool { return !prompted[s.id] })
	if !json.Valid([]byte(client)) {
		return "", nil
	}
	return client, sessions
}

// isStored reports whether nothing says that the conversations of a run are not stored.
func isStored(lines []Line) bool {
	return !slices.ContainsFunc(lines, func(l Line) bool { return l.FromAgent && strings.Contains(l.Raw, "This conversation is not stored") })
}
