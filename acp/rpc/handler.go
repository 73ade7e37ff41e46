package rpc

import (
	"context"
	"encoding/json"
)

// Handler serves the peer's messages. Both methods are called on the read loop, in
// wire order, one at a time: they must not block, and must not use [Conn.Call].
type Handler interface {
	// Request prepares a request. Whatever must happen in wire order, such as taking a
	// place in a queue, happens here; the returned Body does the rest. A nil Body means
	// that the method does not exist; the answer is CodeMethodNotFound.
	Request(req *Request) Body

	// Notify handles a notification. Unknown ones are to be ignored.
	Notify(method string, params json.RawMessage)
}

// Request is a request of the peer.
type Request struct {
	ID     ID
	Method string
	Params json.RawMessage // valid JSON, nil if absent; the receiver may keep it
}

// Body does the work of a request, on its own goroutine. Its context is cancelled with
// cause [ErrCancelRequest] when the peer asks for that, and with cause [ErrClosed] when
// the connection ends; it must then return soon. A panic becomes an internal error.
type Body func(ctx context.Context) Reply

// Reply is the answer to a request.
type Reply struct {
	// Result is sent if Err is nil. A nil Result is sent as `{}`.
	Result any

	// Err is sent as it is if it wraps an *[Error], as CodeRequestCancelled if the
	// request was cancelled, and else as CodeInternalError with its text.
	Err error

	// Then, if not nil, is called once the reply stands in the ordered output, so that
	// all it sends, and all that waits for it before sending, comes after the reply.
	// It is called on a broken connection too, where nothing is sent any more.
	Then func()
}
