package rpc_test

import (
	"io"
	"strings"
	"testing"

	"acp-agent/acp/rpc"
)

const (
	notJSON   = "the line is not valid JSON"
	noVersion = `the member "jsonrpc" must be "2.0"`
	noMethod  = `the member "method" must be a non-empty string`
	badID     = `the member "id" must be a string or a number`
)

// Every raw line gets the answer in the table, and the next request is served (R145).
func TestConn_RawLines(t *testing.T) {
	parseError := failed("null", rpc.CodeParseError, notJSON)
	notUTF8 := failed("null", rpc.CodeParseError, "the line is not valid UTF-8")
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	tests := []struct {
		name, line string
		want       string // "" is not an answer
	}{
		{"id negative", `{"jsonrpc":"2.0","id":-5,"method":"m","params":{"a":1}}`, result("-5", `{"a":1}`)},
		{"id zero", `{"jsonrpc":"2.0","id":0,"method":"m"}`, result("0", `{}`)},
		{"id fraction", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, result("1.5", `{}`)},
		{"id 2^64-1", `{"jsonrpc":"2.0","id":18446744073709551615,"method":"m"}`, result("18446744073709551615", `{}`)},
		{"id beyond 2^64", `{"jsonrpc":"2.0","id":1e400,"method":"m"}`, result("1e400", `{}`)},
		{"id string", `{"jsonrpc":"2.0","id":"7","method":"m"}`, result(`"7"`, `{}`)},
		{"id empty string", `{"jsonrpc":"2.0","id":"","method":"m"}`, result(`""`, `{}`)},
		{"id escaped string", `{"jsonrpc":"2.0","id":"\u0041\n","method":"m"}`, result(`"\u0041\n"`, `{}`)},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, invalid("null", badID)},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, invalid("null", badID)},
		{"id boolean", `{"jsonrpc":"2.0","id":true,"method":"m"}`, invalid("null", badID)},
		{"id huge", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5000) + `","method":"m"}`, invalid("null", badID)},
		{"spaces and carriage return", " { \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" } \r", result("1", `{}`)},
		{"escaped names", `{"\u006asonrpc":"2.0","\u0069d":3,"method":"m"}`, result("3", `{}`)},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"m","x":[{}]}`, result("1", `{}`)},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, result("1", `{}`)},
		{"html kept", `{"jsonrpc":"2.0","id":1,"method":"m","params":["<&>"]}`, result("1", `["<&>"]`)},
		{"garbage word", `hello`, parseError},
		{"cut object", `{"jsonrpc":"2.0","id":1,`, parseError},
		{"two values", `{} {}`, parseError},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"m",}`, parseError},
		{"header line", `Content-Length: 20`, parseError},
		{"NUL", "{\"jsonrpc\":\"2.0\",\x00\"id\":1,\"method\":\"m\"}", parseError},
		{"late byte order mark", "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, parseError},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", notUTF8},
		{"UTF-16", "{\x00\"\x00j\x00", parseError},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, invalid("null", "batches are not supported")},
		{"empty batch", `[]`, invalid("null", "batches are not supported")},
		{"number", `42`, invalid("null", "a message is a JSON object")},
		{"string", `"x"`, invalid("null", "a message is a JSON object")},
		{"no envelope", `{"foo":"bar"}`, invalid("null", noVersion)},
		{"version missing", `{"id":9,"method":"m"}`, invalid("9", noVersion)},
		{"version wrong", `{"jsonrpc":"1.0","id":9,"method":"m"}`, invalid("9", noVersion)},
		{"version number", `{"jsonrpc":2.0,"id":9,"method":"m"}`, invalid("9", noVersion)},
		{"version twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":9,"method":"m"}`, invalid("9", "a member of the message is there twice")},
		{"method missing", `{"jsonrpc":"2.0","id":9}`, invalid("9", noMethod)},
		{"method cased", `{"jsonrpc":"2.0","id":9,"Method":"m"}`, invalid("9", noMethod)},
		{"method number", `{"jsonrpc":"2.0","id":9,"method":1}`, invalid("9", noMethod)},
		{"method and result", `{"jsonrpc":"2.0","id":9,"method":"m","result":{}}`, invalid("9", "a message is either a request or a response")},
		{"result and error", `{"jsonrpc":"2.0","id":9,"result":{},"error":{}}`, invalid("null", "a response has either a result or an error")},
		{"too deep", `{"params":` + deep + `,"jsonrpc":"2.0","method":"m","id":9}`, invalid("9", "the message is nested too deeply")},
		{"far too deep", strings.Repeat(`{"a":`, 1e6), parseError},
		{"cancel as request", `{"jsonrpc":"2.0","id":9,"method":"$/cancel_request"}`, invalid("9", "$/cancel_request is a notification")},
		{"blank", "", ""},
		{"white", " \t\r", ""},
		{"notification", `{"jsonrpc":"2.0","method":"n"}`, ""},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}`, ""},
		{"cancel malformed", `{"jsonrpc":"2.0","method":"$/cancel_request","params":7}`, ""},
		{"response to nothing", `{"jsonrpc":"2.0","id":77,"result":{}}`, ""},
		{"response to null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`, ""},
	}
	p := connect(t, echo, rpc.Options{})
	p.send(`{"jsonrpc":"2.0","method":"first line"}`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.tb = t
			p.send(tt.line)
			if tt.want != "" {
				p.expect(tt.want)
			}
			p.send(`{"jsonrpc":"2.0","id":"alive","method":"m"}`)
			p.expect(result(`"alive"`, `{}`))
		})
	}
}

func TestConn_UnknownMethod(t *testing.T) {
	p := connect(t, handler{}, rpc.Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"_x\ny"}`)
	p.expect(failed("1", rpc.CodeMethodNotFound, `no method "_x\ny"`))
}

func TestConn_ByteOrderMarkOnFirstLine(t *testing.T) {
	p := connect(t, echo, rpc.Options{})
	p.send("\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.expect(result("1", "{}"))
}

func TestConn_LastLineWithoutNewline(t *testing.T) {
	p := connect(t, echo, rpc.Options{})
	go func() {
		_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
		_ = p.in.Close()
	}()
	p.expect(result("1", "{}"))
	if err := p.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// A line of exactly the limit is served; one byte more is skipped, and what follows it
// is served.
func TestConn_LineLimit(t *testing.T) {
	request := func(size int) string {
		head, tail := `{"jsonrpc":"2.0","id":1,"method":"m","params":["`, `"]}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	size := handler{request: func(r *rpc.Request) rpc.Body { return echo.request(&rpc.Request{}) }}
	tests := []struct {
		name  string
		limit int // 0 is the default
		size  int
		want  string
	}{
		{"small, at the limit", 100 << 10, 100 << 10, result("1", "{}")},
		{"small, over", 100 << 10, 100<<10 + 1, invalid("1", "the line is longer than 102400 bytes")},
		{"small, far over", 100 << 10, 1 << 20, invalid("1", "the line is longer than 102400 bytes")},
		{"default, at the limit", 0, 32 << 20, result("1", "{}")},
		{"default, over", 0, 32<<20 + 1, invalid("1", "the line is longer than 33554432 bytes")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, size, rpc.Options{MaxLine: tt.limit})
			p.send(request(tt.size))
			p.expect(tt.want)
			p.send(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
			p.expect(result("2", "{}"))
		})
	}
}
