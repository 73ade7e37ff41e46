package acptest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Play plays a client script against the agent and returns the transcript, in
// which ids, times and directories have names instead (see Transcript). dir is
// the directory that the sessions work in, $PROJECT. The files and terminals of
// the client are those of this machine.
//
// A script has one statement a line; empty lines and lines that begin with #
// are skipped. $PROJECT, $HOME, $SESSION (the id of the session that is spoken to),
// $CALL (the id of the tool call that the agent itself opened last) and $CALL1, $CALL2 and
// so on (of the first, the second of all, as the transcript numbers them, which are waited
// for) stand for their values everywhere.
//
//	initialize [WORD…]          initialize, with the capabilities of the words: fs, read,
//	initialize {PARAMS}         write, terminal, terminal_output, terminal_output_delta,
//	                            boolean, notices, compaction, elicitation, auth, subagents, and as the
//	                            editor that client=NAME names; or with these params
//	authenticate [ID] [{META}]  authenticate, by default with api-key
//	logout
//	new [DIR | {PARAMS}]        session/new; the session becomes the one spoken to
//	use N                       speak to the N-th session
//	set_mode ID
//	set_config_option ID VALUE
//	close                       session/close
//	restart [kill]              end the agent, or kill it, and start it anew over its home; the
//	                            client initializes as before
//	load                        session/load of the session that is spoken to
//	resume                      session/resume of it
//	fork [{META}]               session/fork of it; the copy becomes the one spoken to
//	request METHOD [{PARAMS}]   any other request
//	notify METHOD [{PARAMS}]    any notification
//	raw LINE                    any line
//	error CODE [TEXT]           the request before, or the prompt that is waited for, failed so
//
//	prompt TEXT                 session/prompt, without waiting
//	prompt [BLOCKS]             the same with these blocks
//	cancel                      session/cancel
//	withdraw                    $/cancel_request for the latest prompt, and wait for its answer
//	end [REASON]                the oldest prompt of the session ends so; default end_turn
//	beside TEXT                 a prompt that is answered while the one before it runs
//
//	expect KIND [NAME=TEXT…]    wait for an update of that kind; a member, by its path, is
//	                            the text, or with NAME~TEXT contains it
//	ask [NAME=TEXT…]            wait for the next permission request, and leave it open
//	allow once|always [NAME=TEXT…]   answer the open permission request, or the next one
//	reject once|always [NAME=TEXT…]
//	option ID                   answer it with an option that may not exist
//	dismiss                     answer it with cancelled
//	fail CODE TEXT              answer it with an error
//	answer {CONTENT}            fill in the open form (elicitation/create), or the next one
//	decline                     put it away
//
//	buffer FILE TEXT            change a file in the editor without saving; \n is a newline
//	disk FILE TEXT              change it on disk
//	turn LINK TARGET            make a link on disk lead elsewhere
//	show WHAT…                  have the transcript show whole what it shortens:
//	                            initialize, options, commands, usage, permission
//
// A request that fails must be followed by error; a prompt needs its end or
// error.
func Play(tb TB, name, script, dir string, o Options) string {
	tb.Helper()
	p := newPlayer(tb, dir, o)
	p.play(name, script)
	p.tb.where = name + ": at the end: "
	p.settled("end")
	for _, turn := range p.turns {
		p.fatal("the prompt with id %s has no end", turn.id)
	}
	p.Close()
	lines := append(p.earlier, p.Lines()...)
	if o.Played != nil {
		o.Played(lines, p.Home)
	}
	return Transcript(lines, Names{Project: dir, Home: p.Home, Show: p.show})
}

// newPlayer starts the agent for a script.
func newPlayer(tb TB, dir string, o Options) *player {
	p := &player{tb: &located{TB: tb}, dir: dir, show: map[string]bool{}, files: &Files{}}
	o.Files, o.Terminals, o.Permission = p.files, &Terminals{}, nil
	p.opts = o
	p.Agent = Start(p.tb, o)
	return p
}

// play carries out the statements of a script.
func (p *player) play(name, script string) {
	p.tb.Helper()
	number := 0
	for line := range strings.Lines(script) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		p.tb.where = fmt.Sprintf("%s:%d: %s: ", name, number, line)
		p.do(line)
	}
}

// located says where in a script a test failed.
type located struct {
	TB
	where string
}

func (l *located) Errorf(format string, args ...any) {
	l.Helper()
	l.TB.Errorf("%s%s", l.where, fmt.Sprintf(format, args...))
}

func (l *located) Fatalf(format string, args ...any) {
	l.Helper()
	l.TB.Fatalf("%s%s", l.where, fmt.Sprintf(format, args...))
}

// player is the state of a script.
type player struct {
	*Agent
	opts     Options
	earlier  []Line // of the agents before
	tb       *located
	dir      string
	files    *Files
	show     map[string]bool
	sessions []*Session
	session  *Session    // spoken to; nil before the first
	turns    []*Turn     // without their end
	open     *Permission // a request that a statement has left open
	formFrom int         // line after the last form that was answered
	failed   *Message    // an error that no statement has taken
	user     *User       // who answers in the place of the script; nil for the script itself
}

// do carries out one statement.
func (p *player) do(line string) {
	p.tb.Helper()
	session := ""
	if p.session != nil {
		session = p.session.ID
	}
	line = strings.NewReplacer("$PROJECT", p.dir, "$HOME", p.Home, "$SESSION", session).Replace(p.callNames(line))
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	verbs := map[string]func(string){
		"initialize": p.initialize, "authenticate": p.authenticate, "logout": p.plain("logout"), "new": p.newSession,
		"use": p.use, "set_mode": p.setMode, "set_config_option": p.setOption, "close": p.plain(methodClose),
		"request": p.request, "notify": p.notify, "raw": func(line string) { p.Write(line) }, "error": p.fails,
		"restart": p.restart, "load": p.load, "resume": p.resume, "fork": p.fork,
		"prompt": p.prompt, "beside": p.beside, "cancel": func(string) { p.session.Cancel() }, "withdraw": p.withdraw, "end": p.ends,
		"expect": p.expect, "ask": p.asked, "allow": p.choose("allow"), "reject": p.choose("reject"),
		"option": func(id string) { p.permission("").Select(id) }, "dismiss": func(string) { p.permission("").Dismiss() },
		"fail": p.failPermission, "answer": p.fill, "decline": p.decline, "buffer": p.edit, "disk": p.disk, "turn": p.turn, "show": p.shows,
	}
	do := verbs[verb]
	if do == nil {
		p.fatal("there is no statement %q", verb)
	}
	p.settled(verb)
	do(rest)
}

// settled insists that an error is followed by its statement.
func (p *player) settled(verb string) {
	p.tb.Helper()
	if p.failed != nil && verb != "error" {
		p.fatal("the request before failed: %d %s", p.failed.Error.Code, p.failed.Error.Message)
	}
}

// call makes a request and keeps its failure for the next statement.
func (p *player) call(method string, params any) *Message {
	p.tb.Helper()
	request := p.Request(method, params)
	m := request.Wait()
	switch {
	case m.Error != nil:
		p.failed = m
	case slices.Contains([]string{methodNew, methodLoad, "session/resume", "session/fork"}, method):
		p.await(request.at, "the commands of the session", func(m *Message) bool { // they follow the answer
			kind, _ := m.Update()
			return kind == "available_commands_update"
		})
	}
	return m
}

// plain is a request with nothing but the session, if there is one.
func (p *player) plain(method string) func(string) {
	return func(string) {
		params := map[string]any{}
		if p.session != nil && strings.HasPrefix(method, "session/") {
			params["sessionId"] = p.session.ID
		}
		p.call(method, params)
	}
}

func (p *player) use(number string) {
	var n int
	if _, err := fmt.Sscanf(number, "%d", &n); err != nil || n < 1 || n > len(p.sessions) {
		p.fatal("there is no session %q", number)
	}
	p.session = p.sessions[n-1]
}

func (p *player) fails(rest string) {
	p.tb.Helper()
	var code int
	number, text, _ := strings.Cut(rest, " ")
	if _, err := fmt.Sscanf(number, "%d", &code); err != nil {
		p.fatal("%q is no code", number)
	}
	m := p.failed
	if m == nil {
		m = p.oldest().Wait()
	}
	p.failed = nil
	if p.user != nil {
		return
	}
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, text) {
		p.fatal("got %s, want an error %d with %q", outcome(m), code, text)
	}
}

// oldest takes the oldest prompt of the session off the list.
func (p *player) oldest() *Turn {
	p.tb.Helper()
	for i, turn := range p.turns {
		if turn.Session == p.session {
			p.turns = append(p.turns[:i:i], p.turns[i+1:]...)
			return turn
		}
	}
	p.fatal("no prompt is waiting for its end")
	return nil
}

func (p *player) ends(reason string) {
	p.tb.Helper()
	if reason == "" {
		reason = "end_turn"
	}
	if turn := p.oldest(); p.user != nil {
		turn.Wait()
	} else {
		turn.Ends(reason)
	}
}

// edit changes a file in the editor.
func (p *player) edit(rest string) {
	path, text := p.fileText(rest)
	p.files.Edit(path, text)
}

// disk changes a file on disk.
func (p *player) disk(rest string) {
	p.tb.Helper()
	path, text := p.fileText(rest)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.fatal("%v", err)
	}
}

// turn makes a link on disk lead elsewhere.
func (p *player) turn(rest string) {
	p.tb.Helper()
	link, target := p.fileText(rest)
	if err := os.Remove(link); err != nil {
		p.fatal("%v", err)
	}
	if err := os.Symlink(target, link); err != nil {
		p.fatal("%v", err)
	}
}

func (p *player) fileText(rest string) (path, text string) {
	path, text, _ = strings.Cut(rest, " ")
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	return path, strings.ReplaceAll(text, `\n`, "\n")
}

func (p *player) shows(what string) {
	for _, word := range strings.Fields(what) {
		p.show[word] = true
	}
}
