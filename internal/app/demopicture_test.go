package app

import (
	"flag"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/termpicture"
)

var updatePicture = flag.Bool("picture", false, "draw the picture of the demo again")

// The picture in the README shows what the demo prints. Calls that run at the same time may
// come in another order, so the lines are compared without one.
func TestDemo_Picture(t *testing.T) {
	const name = "../../docs/demo.svg"
	var out strings.Builder
	view := newDemoView(&out, strings.NewReader(""), true)
	view.screen.color = true
	if err := runDemo(t.Context(), view, io.Discard); err != nil {
		t.Fatal(err)
	}
	output := regexp.MustCompile(`\S*acp-agent-demo-\d+`).ReplaceAllString(out.String(), "/tmp/acp-agent-demo")
	output = regexp.MustCompile(`\b\d+s\b`).ReplaceAllString(output, "1s")
	svg := termpicture.Draw(output, termpicture.Options{
		Title: "acp-agent demo: a subagent corrects a file after a question, and a test is run", Still: "Allow once",
	})
	if *updatePicture {
		if err := os.WriteFile(name, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, got := termpicture.Lines(string(shown)), termpicture.Lines(svg)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the demo prints, run make picture (-picture +demo):\n%s", name, diff)
	}
}
