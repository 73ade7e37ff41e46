package scripts

import (
	"bytes"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/testkit/acptest"
)

// recordCmd is play with a recording: `record FILE [NAME=VALUE...]`. `agent replay FILE` runs it again.
func recordCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: record FILE [NAME=VALUE...]")
	}
	dir, options := playOptions(ts, args[1:])
	options.Args = []string{"--record", ts.MkAbs(args[0])}
	transcript := acptest.Play(&scriptTB{ts: ts}, "client", ts.ReadFile("client"), dir, options)
	ts.Check(os.WriteFile(ts.MkAbs("transcript"), []byte(transcript), 0o644))
}

// alter writes a file anew with another text in all places of one: `alter FROM TO OLD NEW`.
func alter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: alter FROM TO OLD NEW")
	}
	data := []byte(ts.ReadFile(args[0]))
	if !bytes.Contains(data, []byte(args[2])) {
		ts.Fatalf("%s has no %q", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.ReplaceAll(data, []byte(args[2]), []byte(args[3])), 0o600))
}

// cut writes the beginning of a file, up to the first place of a text: `cut FROM TO TEXT`.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: cut FROM TO TEXT")
	}
	before, _, found := bytes.Cut([]byte(ts.ReadFile(args[0])), []byte(args[2]))
	if !found {
		ts.Fatalf("%s has no %q", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), before, 0o600))
}
