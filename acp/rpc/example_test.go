package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"acp-agent/acp/rpc"
)

// greeter serves one method. It counts its requests in the order of the wire.
type greeter struct{ count int }

func (g *greeter) Request(r *rpc.Request) rpc.Body {
	if r.Method != "greet" {
		return nil // answered as an unknown method
	}
	g.count++ // on the read loop: no lock is needed
	number := g.count
	return func(context.Context) rpc.Reply {
		var params struct{ Name string }
		if err := json.Unmarshal(r.Params, &params); err != nil {
			return rpc.Reply{Err: rpc.Errorf(rpc.CodeInvalidParams, "greet: %v", err)}
		}
		return rpc.Reply{Result: fmt.Sprintf("hello %s, you are number %d", params.Name, number)}
	}
}

func (*greeter) Notify(string, json.RawMessage) {}

// A connection serves the lines of a reader until they end, and waits for its answers.
func ExampleConn_Run() {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"greet","params":{"name":"Ann"}}` + "\n")
	conn := rpc.New(in, os.Stdout, &greeter{}, rpc.Options{})
	if err := conn.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":"hello Ann, you are number 1"}
}

// A line that cannot be served is answered with the error codes of JSON-RPC, and the
// connection lives on.
func ExampleConn_Run_refused() {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":"a","method":"greet"` + "\n")
	conn := rpc.New(in, os.Stdout, &greeter{}, rpc.Options{})
	if err := conn.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not valid JSON"}}
}
