package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// The oracle for lines is bytes.Split over the whole input.
func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nb\n"), 4)
	f.Add([]byte("\xef\xbb\xbfa\r\n\n\nlast"), 3)
	f.Add([]byte(strings.Repeat("x", 200<<10)+"\ny"), 1<<10)
	f.Fuzz(func(t *testing.T, input []byte, limit int) {
		limit = 1 + int(uint(limit)%(256<<10))
		want := bytes.Split(input, []byte("\n"))
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		l := newLineReader(iotest.HalfReader(bytes.NewReader(input)), limit)
		first := true
		for i, line := range want {
			got, err := l.next()
			if len(line) > limit {
				if !errors.Is(err, errLineTooLong) {
					t.Fatalf("line %d of %d bytes, limit %d: %v", i, len(line), limit, err)
				}
				continue
			}
			if first {
				line, first = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
			}
			if err != nil || !bytes.Equal(got, line) {
				t.Fatalf("line %d: %q, %v, want %q", i, got, err, line)
			}
			if cap(got) > 2*limit+64 { // allocations are rounded up
				t.Fatalf("line %d keeps %d bytes, limit %d", i, cap(got), limit)
			}
		}
		if _, err := l.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
	})
}

// The oracle for messages is encoding/json: the same texts are JSON, and the same
// values come out.
func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,-2.5e+3,true,false,null,"\u00e9\\"]}}`,
		`{"jsonrpc":"2.0","id":"x","result":null}`, `{"jsonrpc":"2.0","id":1.5,"error":{"code":-1,"message":"m"}}`,
		`[]`, `[[],{}]`, `{"a":{},"b":[]}`, `01`, `-`, `1.`, `1e`, `"\u12"`, `"` + "\x1f" + `"`, `nul`, ` 7 `, ``, `{"a" 1}`, `{"a":1,}`, `[1,]`, `{]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		msg, refused := parseMessage(line)
		if (msg == nil) == (refused == nil) {
			t.Fatalf("%q: message %v, refusal %v", line, msg, refused)
		}
		isJSON := json.Valid(line) && utf8.Valid(line)
		if refused != nil {
			if (refused.err.Code == CodeParseError) == isJSON {
				t.Fatalf("%q: %v, but valid is %v", line, refused.err, isJSON)
			}
			return
		}
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("%q: accepted, but %v", line, err)
		}
		if string(msg.id) != string(want["id"]) || string(msg.params) != string(want["params"]) ||
			string(msg.result) != string(want["result"]) {
			t.Fatalf("%q: read as %+v", line, msg)
		}
		var method string
		if want["method"] != nil && json.Unmarshal(want["method"], &method) != nil || method != msg.method {
			t.Fatalf("%q: method %q, want %q", line, msg.method, method)
		}
	})
}

func TestID_Key(t *testing.T) {
	tests := []struct {
		name string
		ids  []ID // equal among themselves and to no other row
	}{
		{"zero", []ID{"0", "-0", "0.0", "0e7", "-0.00E-3"}},
		{"one", []ID{"1", "1.0", "10e-1", "0.1e1", "1e0", "1E+0"}},
		{"ten", []ID{"10", "1e1", "10.0", "100e-1"}},
		{"minus one", []ID{"-1", "-1.0", "-10e-1"}},
		{"fraction", []ID{"1.5", "15e-1", "1.50"}},
		{"large", []ID{"18446744073709551615", "18446744073709551615.0"}},
		{"larger by one", []ID{"18446744073709551616"}},
		{"exponent beyond reason", []ID{"1e99999999999999999999"}},
		{"string one", []ID{`"1"`, `"\u0031"`}},
		{"string e", []ID{`"1e1"`}},
		{"empty string", []ID{`""`}},
	}
	owner := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, id := range tt.ids {
				if id.key() != tt.ids[0].key() {
					t.Errorf("%s and %s differ: %q, %q", id, tt.ids[0], id.key(), tt.ids[0].key())
				}
			}
			if other, taken := owner[tt.ids[0].key()]; taken {
				t.Errorf("same as %s", other)
			}
			owner[tt.ids[0].key()] = tt.name
		})
	}
}
