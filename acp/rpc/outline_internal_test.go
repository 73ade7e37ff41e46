package rpc

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// outlined is the refusal of a line of which the pieces have the given size.
func outlined(line []byte, piece int) (*outline, *refusal) {
	o := newOutline()
	for len(line) > piece {
		o.write(line[:piece])
		line = line[piece:]
	}
	o.write(line)
	return o, o.refusal("too long")
}

func TestOutline(t *testing.T) {
	deep := strings.Repeat(`[{"id":1,"a":`, 5000) + "0" + strings.Repeat(`}]`, 5000)
	tests := []struct {
		name, line string
		id         ID // "" for null
		response   ID // of a call of ours
	}{
		{"id first", `{"id":5,"jsonrpc":"2.0","method":"m","params":{"a":"x"}}`, "5", ""},
		{"id last", `{"jsonrpc":"2.0","method":"m","params":{"a":"x"},"id":"last"}`, `"last"`, ""},
		{"space", "\t{ \"jsonrpc\" : \"2.0\" ,\"params\" : [ 1 , {} ] ,  \"method\":\"m\" ,\"id\" : -1.5 }\r", "-1.5", ""},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, "", ""},
		{"id object", `{"jsonrpc":"2.0","id":{"id":3},"method":"m"}`, "", ""},
		{"nested ids", `{"jsonrpc":"2.0","method":"m","params":{"id":1,"a":[{"id":2}]},"x":[{"id":3}]}`, "", ""},
		{"nested id and own", `{"jsonrpc":"2.0","method":"m","params":{"id":1},"id":4}`, "4", ""},
		{"id within a text", `{"jsonrpc":"2.0","method":"m","params":{"a":"\\\",\"id\":1,\""},"id":4}`, "4", ""},
		{"id as a value", `{"jsonrpc":"2.0","method":"id","params":["id",7]}`, "", ""},
		{"brackets within a text", `{"jsonrpc":"2.0","method":"m","params":["}]}\\"],"id":4}`, "4", ""},
		{"escaped name", `{"jsonrpc":"2.0","method":"m","\u0069d":4}`, "4", ""},
		{"long name", `{"jsonrpc":"2.0","method":"m","` + strings.Repeat("n", 9000) + `":1,"id":4}`, "4", ""},
		{"long unknown value", `{"jsonrpc":"2.0","method":"m","x":"` + strings.Repeat("n", 99000) + `","id":4}`, "4", ""},
		{"long method", `{"jsonrpc":"2.0","method":"` + strings.Repeat("n", 99000) + `","id":4}`, "4", ""},
		{"longest id", `{"jsonrpc":"2.0","method":"m","id":"` + strings.Repeat("i", maxIDBytes-2) + `"}`, ID(`"` + strings.Repeat("i", maxIDBytes-2) + `"`), ""},
		{"id too long", `{"jsonrpc":"2.0","method":"m","id":"` + strings.Repeat("i", maxIDBytes-1) + `"}`, "", ""},
		{"twice", `{"jsonrpc":"2.0","id":1,"method":"m","id":2}`, "2", ""}, // as with a short line
		{"deep", `{"jsonrpc":"2.0","method":"m","params":` + deep + `,"id":4}`, "4", ""},
		{"many members", `{"jsonrpc":"2.0","id":4,"method":"m"` + strings.Repeat(`,"x":1`, 20000) + `}`, "", ""},
		{"no version", `{"id":4,"method":"m"}`, "4", ""},
		{"response", `{"jsonrpc":"2.0","id":4,"result":{"content":"x"}}`, "", "4"},
		{"response that is a text", `{"jsonrpc":"2.0","result":"` + strings.Repeat("n", 99000) + `","id":4}`, "", "4"},
		{"error", `{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"x"}}`, "", "4"},
		{"batch", `[{"jsonrpc":"2.0","id":4,"method":"m"}]`, "", ""},
		{"text", `"x"`, "", ""},
		{"cut", `{"jsonrpc":"2.0","id":4,"method":"m"`, "", ""},
		{"mismatch", `{"jsonrpc":"2.0","params":[},"id":4,"method":"m"}`, "", ""},
		{"two numbers", `{"jsonrpc":"2.0","id":4 2,"method":"m"}`, "", ""},
		{"closed twice", `{"jsonrpc":"2.0","method":"m"}},"id":4}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{1, 7, 1 << 20} {
				_, got := outlined([]byte(tt.line), piece)
				if want := ID(orNull([]byte(tt.id))); tt.id != "" && got.id != want || tt.id == "" && got.id != nullID || got.response != tt.response {
					t.Errorf("pieces of %d: id %.20s, response %q, want %.20s, %q", piece, got.id, got.response, tt.id, tt.response)
				}
				if got.err.Message != "too long" {
					t.Errorf("message %q", got.err.Message)
				}
			}
		})
	}
}

// The oracle for outlines is the parser of whole lines: of what is JSON, both find the same
// id, however the line is cut and however long what surrounds the id is.
func FuzzOutline(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,{"id":2}]}}`, `{"id":"\u0041","result":[]}`, `[{"id":1}]`,
		`{"a":"}\\","id":1,"method":"m"}`, `{"id":1,"id":2}`, `{"id":[1]}`, ` 7 `, `{`, `}`, `{"a":[}]`, `{"id":1 2}`, "{\"id\":1,\"\xff\":2}",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, line []byte, piece int) {
		piece = 1 + int(uint(piece)%64)
		o, got := outlined(line, piece)
		if len(o.text) > maxOutline+2 || len(o.open) > maxDepth {
			t.Fatalf("it holds %d bytes and %d containers", len(o.text), len(o.open))
		}
		if !json.Valid(line) || !utf8.Valid(line) || o.full {
			return
		}
		id, response := nullID, ID("")
		switch msg, refused := parseMessage(line); {
		case refused != nil:
			id, response = refused.id, refused.response
		case msg.isResponse():
			response = msg.id
		case msg.id != "":
			id = msg.id
		}
		if got.id != id || got.response != response {
			t.Fatalf("%q: id %q, response %q, want %q, %q", line, got.id, got.response, id, response)
		}
	})
}
