package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// newTestChoices returns choices on a machine with a sandbox of some kind, the events that
// they emitted, and how often the mode was put in force.
func newTestChoices(t *testing.T, mode permissions.Mode, kind sandbox.Kind) (c *choices, changes *int) {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(`{"say":"done"}`))
	if err != nil {
		t.Fatal(err)
	}
	probe := sandbox.NewProbe(func(context.Context) sandbox.Report { return sandbox.Report{Kind: kind, Network: true} })
	probe.Start(t.Context())
	if _, err := probe.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes, catalogue := new(int), &modelCatalogue{}
	emit := func(transcript.Event) {}
	life := newLifetime(t.Context(), nil)
	t.Cleanup(func() {
		life.end(ErrClosed)
		life.wait()
		catalogue.background.close()
		probe.Stop()
	})
	modes := newModes(modeOptions{life: life, sandbox: probe, emit: emit, notices: newNotices(emit), changed: func() { *changes++ }}, mode)
	backend := Backend{Provider: loaded.Provider(script.Options{}), Model: "script"}
	return newChoices(modes, newModels(modelOptions{life: life, catalogue: catalogue, emit: emit, warn: func(string) {}}, backend)), changes
}

func TestChoices_SetOption(t *testing.T) {
	for _, tt := range []struct {
		name, option, value string
		kind                sandbox.Kind
		refused             string
		changes             int
	}{
		{name: "a mode", option: ModeOption, value: "code", changes: 1},
		{name: "an unknown mode", option: ModeOption, value: "wild", refused: `unknown Mode "wild"`},
		{name: "auto with a sandbox", option: ModeOption, value: "auto", kind: sandbox.Bubblewrap, changes: 1},
		{name: "auto without one", option: ModeOption, value: "auto", refused: "there is no sandbox"},
		{name: "the model", option: ModelOption, value: "script"},
		{name: "an unknown option", option: "colour", value: "red", refused: `unknown config option "colour"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, changes := newTestChoices(t, "", tt.kind)
			err := c.setOption(tt.option, tt.value)
			var bad *BadValueError
			switch {
			case tt.refused == "" && err != nil:
				t.Fatal(err)
			case tt.refused != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), tt.refused)):
				t.Fatalf("error %v, want one with %q", err, tt.refused)
			}
			if *changes != tt.changes {
				t.Errorf("the mode was put in force %d times, want %d", *changes, tt.changes)
			}
		})
	}
}

// Leaving plan mode leads back to the mode that it was entered from.
func TestChoices_LeavePlan(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first permissions.Mode
		modes []string
		want  permissions.Mode
	}{
		{name: "entered from ask", modes: []string{"plan"}, want: permissions.ModeAsk},
		{name: "entered from code", modes: []string{"code", "plan", "plan"}, want: permissions.ModeCode},
		{name: "the first mode", first: permissions.ModePlan, want: permissions.ModeCode},
		{name: "not in plan mode", modes: []string{"plan", "ask"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newTestChoices(t, tt.first, sandbox.None)
			for _, mode := range tt.modes {
				if err := c.setOption(ModeOption, mode); err != nil {
					t.Fatal(err)
				}
			}
			var recorded []transcript.Event
			mode, statement, err := planModes{c.modes, func(e transcript.Event) { recorded = append(recorded, e) }}.LeavePlan()
			if tt.want == "" {
				var denied *tools.Error
				if !errors.As(err, &denied) || denied.Kind != tools.Unavailable {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || mode != string(tt.want) || !strings.Contains(statement, "Plan mode is over") {
				t.Errorf("left to %q with %q, %v; want %q", mode, statement, err, tt.want)
			}
			if !slices.Contains(recorded, transcript.Event(transcript.ModeChanged{ModeID: mode})) {
				t.Errorf("recorded %v", recorded)
			}
		})
	}
}

// A configured mode that the machine does not allow is told of with the first prompt.
func TestChoices_ConfiguredAuto(t *testing.T) {
	c, _ := newTestChoices(t, permissions.ModeAuto, sandbox.None)
	if c.modes.now() != permissions.ModeAsk || len(c.modes.startup) != 1 {
		t.Errorf("mode %s, notices %v", c.modes.now(), c.modes.startup)
	}
	c, _ = newTestChoices(t, permissions.ModeAuto, sandbox.Bubblewrap)
	if c.modes.now() != permissions.ModeAuto || len(c.modes.startup) != 0 {
		t.Errorf("mode %s, notices %v", c.modes.now(), c.modes.startup)
	}
}

func TestNotices(t *testing.T) {
	var shown []transcript.Event
	n := newNotices(func(e transcript.Event) { shown = append(shown, e) })
	first := transcript.Notice{Text: "first"}
	n.once("key", first)
	n.once("key", first)
	n.once("other", transcript.Notice{Text: "second"})
	n.forget("key")
	n.once("key", first)
	if len(shown) != 3 {
		t.Errorf("shown: %v", shown)
	}
}
