//go:build unix

package pipeline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/internal/testkit/cases"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// stepCall is a call of a step; of one without a tool, input is a command.
type stepCall struct{ tool, input string }

func commandsOf(texts ...string) (calls []stepCall) {
	for _, text := range texts {
		calls = append(calls, stepCall{input: text})
	}
	return calls
}

// ran is how a command ends that may run: the sandbox of a stage is only pretended, so that none starts.
const ran = transcript.Failed

// prepareStep prepares the calls of one step.
func (s *stage) prepareStep(t *testing.T, calls []stepCall) (prepared []*pipeline.Prepared) {
	t.Helper()
	step := &pipeline.Step{}
	for i, call := range calls {
		name, input := call.tool, call.input
		if name == "" {
			raw, err := json.Marshal(object{"cmd": call.input})
			if err != nil {
				t.Fatal(err)
			}
			name, input = "bash", string(raw)
		}
		prepared = append(prepared, s.Prepare(pipeline.Call{ID: fmt.Sprint("call_", i), Name: name, Input: input, Step: step}))
	}
	return prepared
}

// runStep runs the calls of one step, one after the other.
func (s *stage) runStep(t *testing.T, calls []stepCall) (states []transcript.State) {
	t.Helper()
	for _, c := range s.prepareStep(t, calls) {
		states = append(states, s.Run(t.Context(), c, s).State)
	}
	return states
}

// questions are the commands of each question that was asked.
func (s *stage) questions() (all []string) {
	for _, request := range s.asked {
		text := request.Ready.Card.Title
		for _, other := range request.With {
			text += " + " + other.Ready.Card.Title
		}
		all = append(all, text)
	}
	return all
}

func TestPipeline_SharedCard(t *testing.T) {
	long := "touch " + strings.Repeat(strings.Repeat("x", 199)+" ", 15) + "y" // few words, for each is resolved
	read := stepCall{"read", `{"path":"a.txt"}`}
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprint("touch ", i)
	}
	tests := []struct {
		name  string
		calls []stepCall
		want  []string
	}{
		{"one", commandsOf("touch a"), []string{"touch a"}},
		{"several", commandsOf("touch a", "mkdir b", "sh -c 'true'"), []string{"touch a + mkdir b + sh -c 'true'"}},
		{"in the background", []stepCall{{input: "touch a"}, {"bash", `{"cmd":"touch b","background":true}`}}, []string{"touch a + touch b &"}},
		{"with one between that is allowed", commandsOf("touch a", "pwd", "touch b"), []string{"touch a + touch b"}},
		{"with a read between", []stepCall{{input: "touch a"}, read, {input: "touch b"}}, []string{"touch a + touch b"}},
		{"with a faulty one between", []stepCall{{input: "touch a"}, {"bash", `{}`}, {input: "touch b"}}, []string{"touch a + touch b"}},
		{"with an edit between", []stepCall{{input: "touch a"}, {"write", `{"path":"w","content":"x"}`}, {input: "touch b"}}, []string{"touch a", "Write w", "touch b"}},
		{"with one between that is refused", commandsOf("touch a", "sudo ls", "touch b"), []string{"touch a", "touch b"}},
		{"dangerous", commandsOf("touch a", "rm -rf b", "touch c", "touch d"), []string{"touch a", "rm -rf b", "touch c + touch d"}},
		{"dangerous first", commandsOf("rm -rf b", "touch c"), []string{"rm -rf b", "touch c"}},
		{"the network", commandsOf("touch a", "npm install"), []string{"touch a", "npm install"}},
		{"publishing", commandsOf("touch a", "git push"), []string{"touch a", "git push"}},
		{"a daemon outside", commandsOf("touch a", "docker ps"), []string{"touch a", "docker ps"}},
		{"what cannot be taken back", commandsOf("touch a", "git reset --hard"), []string{"touch a", "git reset --hard"}},
		{"outside the project", commandsOf("touch a", "touch ../b"), []string{"touch a", "touch ../b"}},
		{"another place", commandsOf("touch a", "cp a /opt/b"), []string{"touch a", "cp a /opt/b"}},
		{"the environment", commandsOf("touch a", "env"), []string{"touch a", "env"}},
		{"too long to be read beside another", commandsOf("touch a", long, long, "touch b"), []string{"touch a + " + long, long + " + touch b"}},
		{"too many", commandsOf(many...), []string{strings.Join(many[:10], " + "), strings.Join(many[10:], " + ")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.write(t, "a.txt", "x")
			s.runStep(t, test.calls)
			if diff := cmp.Diff(test.want, s.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPipeline_SharedCardHidesNothing puts beside another only commands that mode auto would run: of all rows of the case
// file, none that is dangerous, leaves the project, publishes or is refused. The short form has a third of the rows.
func TestPipeline_SharedCardHidesNothing(t *testing.T) {
	home := t.TempDir()
	s := newStage(t, func(o *pipeline.Options) { o.Home = home })
	places := strings.NewReplacer("@WORK@", s.dir, "@OUT@", s.dir+"-out", "@HOME@", home)
	beside, alone := 0, 0
	rows := cases.Read(t, "commands.txt", places)
	for _, c := range testreq.Pick(len(rows)/3, rows) {
		command := c.Unquoted(t, c.Text)
		s.asked = nil
		first := s.prepareStep(t, commandsOf("touch a", command))[0]
		s.Run(t.Context(), first, s)
		if len(s.asked) != 1 || len(s.asked[0].With) == 0 {
			alone++
			continue
		}
		beside++
		if c.Want == "deny" {
			t.Errorf("%s:%d: beside another: %s", c.File, c.Line, command)
		}
		input, err := json.Marshal(object{"cmd": command})
		if err != nil {
			t.Fatal(err)
		}
		s.policy.SetDefaults(permissions.Defaults(permissions.ModeAuto, false, builtin.Defaults()))
		if e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: string(input)}); e.Action != capability.Allow {
			t.Errorf("%s:%d: beside another: %s: %s in mode auto: %s", c.File, c.Line, command, e.Action, e.Reason)
		}
		s.policy.SetDefaults(permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults()))
	}
	t.Logf("%d commands beside another, %d alone", beside, alone)
	if beside < testreq.Rounds(33, 100) || alone < testreq.Rounds(166, 500) {
		t.Errorf("%d commands beside another and %d alone: the table is not what it was", beside, alone)
	}
}

func TestPipeline_SharedCardAnswers(t *testing.T) {
	const rejected, cancelled = transcript.Rejected, transcript.Cancelled
	three := "touch a + touch b + touch c"
	tests := []struct {
		name    string
		answers []tools.Answer
		askErr  error
		states  []transcript.State
		asked   []string
		rules   int
	}{
		{"allow once", []tools.Answer{tools.AllowOnce}, nil, []transcript.State{ran, ran, ran}, []string{three}, 0},
		{"always", []tools.Answer{tools.AllowAlways}, nil, []transcript.State{ran, ran, ran}, []string{three}, 3},
		{"reject", []tools.Answer{tools.RejectOnce, tools.AllowOnce}, nil, []transcript.State{rejected, rejected, rejected}, []string{three}, 0},
		{"dismissed", []tools.Answer{tools.Cancelled, tools.AllowOnce}, nil, []transcript.State{cancelled, cancelled, cancelled}, []string{three}, 0},
		{
			"one by one",
			[]tools.Answer{tools.OneByOne, tools.AllowOnce, tools.RejectOnce, tools.AllowOnce},
			nil,
			[]transcript.State{ran, rejected, ran},
			[]string{three, "touch a", "touch b", "touch c"},
			0,
		},
		{
			"one by one, where there is one",
			[]tools.Answer{tools.OneByOne, tools.OneByOne, tools.AllowOnce, tools.OneByOne},
			nil,
			[]transcript.State{rejected, ran, rejected},
			[]string{three, "touch a", "touch b", "touch c"},
			0,
		},
		{
			"cannot be asked", nil, errors.New("no such method"),
			[]transcript.State{rejected, rejected, rejected},
			[]string{three, "touch b + touch c", "touch c"},
			0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.answers, s.askErr = test.answers, test.askErr
			if diff := cmp.Diff(test.states, s.runStep(t, commandsOf("touch a", "touch b", "touch c"))); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, s.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
			if rules := s.policy.Rules().In(permissions.Session); len(rules) != test.rules {
				t.Errorf("rules of the session: %v, want %d", rules, test.rules)
			}
		})
	}
}

// TestPipeline_SharedCardIsJudgedAgain has what changes between the question and a call's turn decide as it does for a
// call that was asked about by itself.
func TestPipeline_SharedCardIsJudgedAgain(t *testing.T) {
	tests := []struct {
		name   string
		answer tools.Answer
		then   func(*stage)
		state  transcript.State
		asked  []string
	}{
		{"nothing", tools.AllowOnce, func(*stage) {}, ran, []string{"touch a + touch b"}},
		{"a rule denies", tools.AllowOnce, rule("touch b", capability.Deny), transcript.Rejected, []string{"touch a + touch b"}},
		{"a rule allows", tools.AllowOnce, rule("touch b", capability.Allow), ran, []string{"touch a + touch b"}},
		{"a rule allows what was rejected", tools.RejectOnce, rule("touch b", capability.Allow), transcript.Rejected, []string{"touch a + touch b"}},
		{"it was cancelled", tools.AllowOnce, func(s *stage) { s.Cancel("call_1") }, transcript.Cancelled, []string{"touch a + touch b"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.answers = []tools.Answer{test.answer, tools.RejectOnce}
			s.onAsk = func(tools.PermissionRequest) { test.then(s) }
			states := s.runStep(t, commandsOf("touch a", "touch b"))
			if states[1] != test.state {
				t.Errorf("ended as %q, want %q", states[1], test.state)
			}
			if diff := cmp.Diff(test.asked, s.questions()); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

func rule(command string, action capability.Action) func(*stage) {
	return func(s *stage) {
		s.policy.Remember(permissions.Rule{Permission: "bash", Pattern: command, Action: action})
	}
}

// TestPipeline_SharedCardCancelledBefore leaves out of a question what was cancelled while it waited.
func TestPipeline_SharedCardCancelledBefore(t *testing.T) {
	s := newStage(t, nil)
	calls := s.prepareStep(t, commandsOf("touch a", "touch b", "touch c"))
	s.Cancel("call_1")
	s.Run(t.Context(), calls[0], s)
	if diff := cmp.Diff([]string{"touch a + touch c"}, s.questions()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

// TestPipeline_SharedCardAndTheWatchdog asks the watchdog about each call once, right before it runs: what it objects to
// is asked about by itself then.
func TestPipeline_SharedCardAndTheWatchdog(t *testing.T) {
	var judged []string
	s := newStage(t, func(o *pipeline.Options) {
		o.Watchdog = watchFunc(func(c watchdog.Call) (permissions.Decision, error) {
			text := c.Commands[0].Text
			judged = append(judged, text)
			if text == "touch b" {
				return permissions.Decision{Action: capability.Ask, Reason: "b is special"}, nil
			}
			return permissions.Decision{Action: capability.Allow}, nil
		})
	})
	s.answers = []tools.Answer{tools.AllowOnce, tools.RejectOnce}
	states := s.runStep(t, commandsOf("touch a", "touch b", "touch c"))
	if want := []transcript.State{ran, transcript.Rejected, ran}; !slices.Equal(states, want) {
		t.Errorf("ends %v, want %v", states, want)
	}
	if diff := cmp.Diff([]string{"touch a + touch b + touch c", "touch b"}, s.questions()); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"touch a", "touch b", "touch c"}, judged); diff != "" {
		t.Errorf("the watchdog judged (-want +got):\n%s", diff)
	}
}

// TestPipeline_SharedCardWaits has each call of a question wait for the user, and then for its turn (R141).
func TestPipeline_SharedCardWaits(t *testing.T) {
	s := newStage(t, nil)
	s.answers = []tools.Answer{tools.AllowOnce}
	s.runStep(t, commandsOf("touch a", "touch b"))
	var got []string
	for _, e := range s.events {
		if e, ok := e.(transcript.ToolState); ok {
			got = append(got, e.CallID+" "+string(e.State))
		}
	}
	want := []string{
		"call_0 blocked-on-user", "call_1 blocked-on-user", "call_1 queued", "call_0 in-progress", "call_1 in-progress",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}
