package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"acp-agent/internal/record"
)

// What may be chosen, and how commands are confined, is found out beside the opening of a session:
// it may be told with the answer or after it, but its last value is compared.
func TestRun_StateInAnAnswer(t *testing.T) {
	const opening = `{"id":1,"method":"session/new","params":{"cwd":"/p"}}`
	opened := func(model, sandbox string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","configOptions":[{"id":"model","currentValue":"m","options":[{"name":%q}]}],`+
			`"modes":{"currentModeId":"ask","availableModes":[{"id":%q}]},"_meta":{"acp-agent":{"sandbox":{"kind":%q}}}}}`, model, sandbox, sandbox)
	}
	update := func(text string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + text + `}}`
	}
	options := func(model string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"m","options":[{"name":%q}]}]}`, model))
	}
	sandbox := func(kind string) string {
		return update(fmt.Sprintf(`{"sessionUpdate":"session_info_update","_meta":{"acp-agent":{"sandbox":{"kind":%q}}}}`, kind))
	}
	late, early := []string{opened("m", "probing"), options("Model"), sandbox("none")}, []string{opened("Model", "none")}
	for _, test := range []struct {
		name          string
		recorded, now []string
		frames        int
		differs       string
	}{
		{"both late", late, late, 3, ""},
		{"late, now early", late, early, 3, ""},
		{"early, now late", early, late, 1, ""},
		{"both early", early, early, 1, ""},
		{"there and back, now there", append(late, options("Other"), options("Model")), early, 3, ""},
		{"another model", early, []string{opened("Other", "none")}, 1, "Other"},
		{"another sandbox", late, []string{opened("m", "probing"), options("Model"), sandbox("landlock")}, 2, "landlock"},
		{"another mode", early, []string{`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","configOptions":[{"id":"model","currentValue":"m","options":[{"name":"Model"}]}],` +
			`"modes":{"currentModeId":"plan","availableModes":[]},"_meta":{"acp-agent":{"sandbox":{"kind":"none"}}}}}`}, 0, "plan"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				entries := []record.Entry{{Kind: record.In, Data: json.RawMessage(opening)}}
				for _, line := range test.recorded {
					entries = append(entries, record.Entry{Kind: record.Out, Data: json.RawMessage(line)})
				}
				p := record.NewPlayer(&record.Recording{Entries: append(entries, record.Entry{Kind: record.InEnd})})
				result, err := Run(t.Context(), p, func(_ context.Context, in io.Reader, _ io.Writer, onLine func(string, []byte)) error {
					for lines := bufio.NewScanner(in); lines.Scan(); {
						onLine("in", lines.Bytes())
						for _, line := range test.now {
							onLine("out", []byte(line))
						}
					}
					return nil
				})
				got := ""
				if result.Difference != nil {
					got = result.Difference.Got
				}
				if err != nil || result.Frames != test.frames || got != test.differs {
					t.Errorf("%d frames, difference %+v, %v; want %d and %q", result.Frames, result.Difference, err, test.frames, test.differs)
				}
			})
		})
	}
}
