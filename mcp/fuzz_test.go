package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// FuzzMessages: whatever a program prints, what is passed on is whole messages, and nothing
// that is one is lost.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{"", "hello\n", `{"jsonrpc":"2.0","id":1}` + "\n", "x\n{\"jsonrpc\":\"2.0\"}\r\n{\"jsonrpc\":\"1.0\"}\n[]\n", `{"jsonrpc":"2.0"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, printed []byte) {
		ignored := 0
		passed, err := io.ReadAll(&messages{from: bufio.NewReaderSize(bytes.NewReader(printed), 16), ignored: func() { ignored++ }})
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for line := range bytes.Lines(printed) {
			if bytes.HasSuffix(line, []byte("\n")) && isMessage(line) {
				want = append(want, line...)
			}
		}
		if !bytes.Equal(passed, want) {
			t.Errorf("passed on %q, want %q", passed, want)
		}
	})
}

// FuzzTool: whatever a server says of a tool, it becomes one that a registry takes, or is
// left out.
func FuzzTool(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","inputSchema":{"type":"object","properties":{"p":{"type":"string","pattern":"(?!x)"}}}}`,
		`{"name":"","description":"\u0000","inputSchema":{"$ref":"#/x"}}`, `{"name":"b","inputSchema":true}`, `{"inputSchema":{"type":["object","null"]}}`,
	} {
		f.Add([]byte(seed))
	}
	l := &link{id: "s", manager: New(Options{})}
	f.Fuzz(func(t *testing.T, said []byte) {
		offered := &sdk.Tool{}
		if json.Unmarshal(said, offered) != nil {
			t.Skip()
		}
		list, names, dropped := l.convert([]*sdk.Tool{offered, offered}, "")
		if len(list) != len(names) || len(list)+len(dropped) != 2 || len(list) > 1 {
			t.Fatalf("%d tools, %d names, %d left out", len(list), len(names), len(dropped))
		}
		base, _ := tools.NewRegistry()
		if _, refused := base.With(list...); refused != nil {
			t.Error(refused)
		}
	})
}

// FuzzPrompt: whatever a server says of a prompt, it becomes one that can be typed, with all
// of its arguments, or is left out; two names never become one command.
func FuzzPrompt(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","arguments":[{"name":"x","required":true},{"name":"y z"}]}`, `{"name":"a b"}`,
		`{"name":"\u202e","description":"\u0000"}`, `{"arguments":[null]}`,
	} {
		f.Add([]byte(seed), "a_b")
	}
	l := &link{id: "s", manager: New(Options{})}
	f.Fuzz(func(t *testing.T, said []byte, other string) {
		offered := &sdk.Prompt{}
		if json.Unmarshal(said, offered) != nil {
			t.Skip()
		}
		list, dropped := l.promptsOf([]*sdk.Prompt{offered, offered})
		if len(list)+len(dropped) != 2 || len(list) > 1 {
			t.Fatalf("%d prompts, %d left out", len(list), len(dropped))
		}
		if (commandOf("s", offered.Name) == commandOf("s", other)) != (offered.Name == other) {
			t.Errorf("%q and %q are both %s", offered.Name, other, commandOf("s", other))
		}
		for _, p := range list {
			values := ""
			for _, a := range p.Arguments {
				values += ` "v"`
				if kinds.Visible(a.Name) != a.Name {
					t.Errorf("argument %q", a.Name)
				}
			}
			got, err := p.fill(values)
			if err != nil || len(got) != len(offered.Arguments) || !IsCommand(p.Command) || len(strings.Fields(p.Command)) != 1 {
				t.Errorf("%+v with %s: %v, %v", p, values, got, err)
			}
		}
	})
}

// FuzzServer_Keys holds that whatever a server is given, what counts as a key of it is long
// enough not to take ordinary words out of texts.
func FuzzServer_Keys(f *testing.F) {
	f.Add("Authorization", "Basic YW5uOnBhc3N3MHJk", "TOKEN=tok-12345", "--api-key", "key-12345", "https://u:pass0000@h/?token=tok-12345")
	f.Add("", "", "=", "-", ":", "http://[::1")
	f.Fuzz(func(t *testing.T, header, value, variable, arg, next, address string) {
		s := Server{Header: map[string]string{header: value}, Env: []string{variable}, Args: []string{arg, next}, URL: address}
		for _, key := range s.Keys() {
			if len(key) < 8 || !strings.ContainsAny(key, "0123456789") {
				t.Errorf("key %q", key)
			}
		}
	})
}
