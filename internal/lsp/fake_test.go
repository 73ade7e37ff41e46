package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"acp-agent/internal/peer"
)

// fake is a language server with a fault. It knows the definition of everything:
// the first place of the file, behind a character of two units.
type fake struct {
	fault   string
	r       *bufio.Reader
	opened  map[string]int
	asked   int
	replies []string
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// readFrame returns the body of the agent's next message.
func readFrame(r *bufio.Reader) ([]byte, error) {
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	_, err = io.ReadFull(r, body)
	return body, err
}

type object = map[string]any

// fakeServer serves until its input ends. It does not end by os.Exit, where the race
// detector would sleep for a second.
func fakeServer(fault string) {
	f := &fake{fault: fault, r: bufio.NewReader(os.Stdin), opened: map[string]int{}}
	if fault == "noise" {
		fmt.Print("loading plugins...\n\nContent: none\n" + strings.Repeat("long line ", 1000) + "\n")
	}
	for {
		body, err := readFrame(f.r)
		if err != nil {
			return
		}
		var m fakeMessage
		if err := json.Unmarshal(body, &m); err != nil {
			fmt.Fprintln(os.Stderr, "bad message:", err)
			syscall.Exit(3)
		}
		f.handle(m)
	}
}

func (f *fake) send(v object) {
	v["jsonrpc"] = "2.0"
	body, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if err != nil {
		syscall.Exit(0)
	}
}

func (f *fake) answer(m fakeMessage, result any) { f.send(object{"id": m.ID, "result": result}) }

func (f *fake) refuse(m fakeMessage, code int, message string) {
	f.send(object{"id": m.ID, "error": object{"code": code, "message": message}})
}

func (f *fake) handle(m fakeMessage) {
	var p struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []wholeText `json:"contentChanges"`
		Position       position    `json:"position"`
	}
	_ = json.Unmarshal(m.Params, &p)
	switch m.Method {
	case "initialize":
		f.initialize(m)
	case "initialized":
		if f.fault == "deaf" {
			time.Sleep(time.Hour) // blocked for ever, the runtime would call it a deadlock
		}
	case "textDocument/didOpen", "textDocument/didChange":
		text := p.TextDocument.Text
		if m.Method == "textDocument/didChange" {
			text = p.ContentChanges[0].Text
		}
		f.opened[p.TextDocument.URI]++
		f.publish(p.TextDocument.URI, p.TextDocument.Version, text)
	case "textDocument/didClose":
		delete(f.opened, p.TextDocument.URI)
	case "textDocument/definition":
		f.definition(m, p.TextDocument.URI)
	case "textDocument/references":
		at := p.Position
		f.answer(m, []object{{"uri": p.TextDocument.URI, "range": span{at, at}}})
	case "textDocument/diagnostic":
		f.answer(m, object{"kind": "full", "items": []object{{"range": span{}, "message": "asked"}}})
	case "shutdown":
		if f.fault != "stubborn" {
			f.answer(m, nil)
		}
	case "exit":
		if f.fault != "stubborn" {
			syscall.Exit(0)
		}
	case "":
		f.replies = append(f.replies, string(m.ID)+" "+string(m.Result)+string(m.Error))
	}
}

func (f *fake) initialize(m fakeMessage) {
	capabilities := object{"positionEncoding": "utf-16", "definitionProvider": true}
	switch f.fault {
	case "mute":
		return
	case "dies at once":
		fmt.Fprintln(os.Stderr, "no licence")
		syscall.Exit(1)
	case "utf-8":
		capabilities["positionEncoding"] = "utf-8"
	case "no encoding":
		delete(capabilities, "positionEncoding")
	case "pulls":
		capabilities["diagnosticProvider"] = object{"interFileDependencies": true}
	case "refuses":
		f.refuse(m, -32603, "wrong project")
		return
	}
	f.answer(m, object{"capabilities": capabilities})
}

func (f *fake) publish(uri string, version int, text string) {
	say := func(version any, message string) {
		f.send(object{"method": "textDocument/publishDiagnostics", "params": object{
			"uri": uri, "version": version,
			"diagnostics": []object{{"range": span{position{0, 3}, position{0, 4}}, "severity": 2, "code": 7, "source": "fake", "message": message}},
		}})
	}
	switch f.fault {
	case "publishes":
		say(version-1, "of an older text")
		say(version, "at once")
		say(version, "of "+text)
	case "publishes without versions":
		say(nil, "of "+text)
	}
}

func (f *fake) definition(m fakeMessage, uri string) {
	f.asked++
	place := []object{{"uri": uri, "range": span{position{0, 2}, position{0, 3}}}}
	switch f.fault {
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: index out of range")
		syscall.Exit(2)
	case "crash once":
		if _, err := os.Stat("crashed"); err != nil {
			_ = os.WriteFile("crashed", nil, 0o600)
			syscall.Exit(2)
		}
	case "hang":
		return
	case "noise forever":
		for {
			if _, err := fmt.Println("nothing but words"); err != nil {
				syscall.Exit(0)
			}
		}
	case "huge":
		fmt.Printf("Content-Length: %d\r\n\r\n", peer.MaxFrame+1)
		_, _ = io.CopyN(os.Stdout, endless{}, peer.MaxFrame+1)
		return
	case "not json":
		fmt.Printf("Content-Length: 4\r\n\r\n}{}{")
		return
	case "flood":
		for i := 0; ; i++ {
			f.send(object{"id": i, "method": "workspace/configuration", "params": object{"items": []object{{"section": "a"}}}})
		}
	case "modified":
		if f.asked < 3 {
			f.refuse(m, codeContentModified, "content modified")
			return
		}
	case "refuses questions":
		f.refuse(m, -32603, "no package for file")
		return
	case "busy":
		token := object{"token": "t", "value": object{"kind": "begin"}}
		if f.asked == 1 {
			f.send(object{"method": "$/progress", "params": token})
			f.answer(m, nil)
			time.Sleep(50 * time.Millisecond)
			token["value"] = object{"kind": "end"}
			f.send(object{"method": "$/progress", "params": token})
			return
		}
	case "one place":
		f.answer(m, place[0])
		return
	case "links":
		f.answer(m, []object{{"targetUri": uri, "targetRange": span{}, "targetSelectionRange": span{position{0, 2}, position{0, 3}}}})
		return
	case "odd places":
		f.answer(m, []object{{"uri": "zip:/x"}, {"uri": uri, "range": span{position{9999, 5}, position{}}}, {"uri": "file:///usr/lib/x.fake", "range": span{position{4, 6}, position{}}}})
		return
	case "curious":
		f.interview(m, place)
		return
	}
	f.answer(m, place)
}

// interview asks everything and prints what it heard, then answers.
func (f *fake) interview(m fakeMessage, place any) {
	ask := func(id int, method string, params any) {
		f.send(object{"id": id, "method": method, "params": params})
		for len(f.replies) <= id {
			body, err := readFrame(f.r)
			if err != nil {
				syscall.Exit(0)
			}
			var reply fakeMessage
			_ = json.Unmarshal(body, &reply)
			f.handle(reply)
		}
	}
	ask(0, "workspace/configuration", object{"items": []object{{"section": "a"}, {"section": "b"}}})
	ask(1, "window/workDoneProgress/create", object{"token": 1})
	ask(2, "client/registerCapability", object{"registrations": []any{}})
	ask(3, "workspace/applyEdit", object{"edit": object{}})
	ask(4, "window/showDocument", object{"uri": "file:///etc/passwd"})
	ask(5, "fake/unknown", object{})
	heard, _ := json.Marshal(f.replies)
	_ = os.WriteFile("heard", heard, 0o600)
	f.answer(m, place)
}

// endless is a file of blanks.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}
