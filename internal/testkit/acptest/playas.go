package acptest

import (
	"fmt"
	"strings"
	"time"
)

// User is the user of some editor, who plays a script in it ([PlayAs]).
type User struct {
	// Params are those of the editor's initialize request, as JSON.
	Params string
	// Press answers a permission request as the editor does when its user means an
	// option of that kind. The request is the last of the lines.
	Press func(lines []Line, kind string) Pressed
}

// Pressed is what an editor does with an answer of its user.
type Pressed struct {
	// OptionID is the option that is sent; "" means that the request is cancelled.
	OptionID string
	// Cancels says that the editor cancels the turn as well.
	Cancels bool
	// Cannot says why the user cannot give this answer; then nothing is sent.
	Cannot string
}

// Performance is a script as it was played in an editor.
type Performance struct {
	Lines []Line
	// Left says why the script was left before its end: the editor has no way to do what
	// it asks for. Such a script does not apply from there on.
	Left string
	// Problems are what [Check] and the schema find wrong.
	Problems []string
}

// PlayAs plays a script with the capabilities of an editor in the place of its own, and
// has its user answer the questions. What a statement waits for may be another thing in
// that editor: an expect that is not met is passed over, and the reason why a turn ends
// is not compared.
func PlayAs(tb TB, name, script, dir string, user User, o Options) (played Performance) {
	tb.Helper()
	collect := &collector{TB: tb}
	p := newPlayer(collect, dir, o)
	p.user = &user
	func() {
		defer func() {
			if left, ok := recover().(leave); ok {
				played.Left = string(left)
			}
		}()
		p.play(name, script)
	}()
	p.endTurns()
	p.Close()
	played.Lines, played.Problems = p.Lines(), collect.problems
	return played
}

// leave is the reason to play a script no further.
type leave string

// leave ends the play.
func (p *player) leave(format string, args ...any) { panic(leave(fmt.Sprintf(format, args...))) }

// collector keeps what a test would report, and leaves the script where it would end.
type collector struct {
	TB
	problems []string
}

func (c *collector) Errorf(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *collector) Fatalf(format string, args ...any) {
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	if strings.Contains(text, "waiting for a permission request") {
		text = "no permission request comes"
	}
	panic(leave(text))
}

func (c *collector) Logf(string, ...any) {}

// endTurns ends what is still running, as the user would, and lets the agent put its
// terminals away.
func (p *player) endTurns() {
	for _, turn := range p.turns {
		if !turn.Answered() {
			turn.Session.Cancel()
		}
	}
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		open := p.opts.Terminals.running()
		for _, turn := range p.turns {
			open = open || !turn.Answered()
		}
		if !open {
			return
		}
	}
}

// initializeAs sends the editor's initialize where the script has words.
func (p *player) initializeAs(rest string) {
	p.tb.Helper()
	if strings.HasPrefix(rest, "{") {
		p.leave("an initialize request of its own")
	}
	p.call(methodInitialize, p.user.Params)
}

// expectMaybe is Expect that gives up soon.
func (p *player) expectMaybe(_ string, fits func(*Message) bool) *Message {
	for deadline := time.Now().Add(Slack(time.Second)); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		lines, _, ended := p.record.from(p.cursor)
		for i, l := range lines {
			if l.FromAgent && l.Message != nil && fits(l.Message) {
				p.cursor += i + 1
				return l.Message
			}
		}
		if ended {
			break
		}
	}
	return nil
}

// press answers the open permission request, or the next one, as the editor does.
func (p *player) press(kind string) {
	p.tb.Helper()
	open := p.permission("")
	lines := p.Lines()
	for i, l := range lines {
		if l.Message == open.Message {
			lines = lines[:i+1]
			break
		}
	}
	pressed := p.user.Press(lines, kind)
	switch {
	case pressed.Cannot != "":
		p.leave("%s", pressed.Cannot)
	case pressed.OptionID == "":
		open.Dismiss()
	default:
		open.Select(pressed.OptionID)
	}
	if pressed.Cancels {
		p.session.Cancel()
		p.leave("the answer ends the turn")
	}
}

// needsForms leaves the script where the editor has none.
func (p *player) needsForms() {
	if p.user != nil && !strings.Contains(p.user.Params, `"form"`) {
		p.leave("the editor has no forms")
	}
}
