package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sourcegraph/jsonrpc2"
)

// stream is what stands between the lines of the wire and jsonrpc2.Conn: the ObjectStream
// under it, its Handler, and its OnRecv and OnSend hooks.
//
// jsonrpc2.Conn fills its message types from JSON alone, which costs three more parses of
// each message and corrupts ids that are negative or fractional. So ReadObject gives it the
// header of a message, see message.header, and received, its OnRecv hook, attaches the body
// to what jsonrpc2.Conn decoded. Outgoing calls take the same way back: onSend learns the
// id that jsonrpc2.Conn chose, and WriteObject writes the frame that Call prepared.
type stream struct {
	c *Conn

	// current is the message whose header ReadObject returned last. jsonrpc2.Conn reads,
	// decodes and handles strictly in turn, on one goroutine.
	current *message

	// sending is the call that WriteObject is about to write. jsonrpc2.Conn holds its own
	// lock from onSend to WriteObject.
	sending *outCall
}

// connect starts jsonrpc2.Conn on the stream.
func (s *stream) connect(ctx context.Context) *jsonrpc2.Conn {
	return jsonrpc2.NewConn(ctx, s, s,
		jsonrpc2.OnRecv(s.received), jsonrpc2.OnSend(s.onSend), jsonrpc2.SetLogger(silent{}))
}

// ReadObject reads lines up to the next message and decodes its header into v. It answers
// lines that are not messages itself.
func (s *stream) ReadObject(v any) error {
	for {
		line, err := s.c.lines.next()
		tooLong := errors.Is(err, errLineTooLong)
		if err != nil && !tooLong {
			s.c.inputEnded(err)
			return io.EOF
		}
		if len(bytes.TrimSpace(line)) == 0 && !tooLong {
			continue
		}
		msg, refused := s.parse(line, tooLong)
		if refused != nil {
			s.c.refuse(refused)
			if refused.response == "" {
				continue
			}
			// The caller that waits for this answer learns that it is malformed.
			msg = &message{id: refused.response, err: Errorf(CodeInternalError, "malformed response: %s", refused.err.Message)}
		}
		header, ok := msg.header()
		if !ok {
			s.c.log.Debug("response to an unknown call ignored")
			continue
		}
		s.current = msg
		return json.Unmarshal(header, v)
	}
}

// parse reads one line. Of a line that is too long, the outline tells whom to answer.
func (s *stream) parse(line []byte, tooLong bool) (*message, *refusal) {
	if tooLong {
		return nil, s.c.lines.long.refusal(fmt.Sprintf("the line is longer than %d bytes", s.c.lines.max))
	}
	if s.c.trace != nil {
		s.c.trace("in", line)
	}
	return parseMessage(line)
}

// received attaches the body of the current message to its header: the parameters to a
// request, the answer to the call that jsonrpc2.Conn matched it with.
func (s *stream) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	switch call := callOf(req); {
	case resp == nil && s.current.params != nil:
		req.Params = &s.current.params
	case resp == nil:
	case call == nil:
		s.c.log.Debug("response to an unknown call ignored")
	default:
		call.answer.Store(s.current)
	}
}

// Handle serves a request or a notification.
func (s *stream) Handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		s.c.notified(req.Method, params)
		return
	}
	s.c.requested(ctx, &Request{ID: ID(req.ID.Str), Method: req.Method, Params: params})
}

// onSend notes which call WriteObject is about to write, and the id that it has.
func (s *stream) onSend(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
	if s.sending = callOf(req); s.sending != nil {
		s.sending.id = ID(req.ID.String())
	}
}

// WriteObject writes a call; nothing else leaves through jsonrpc2.Conn. It must not block,
// because jsonrpc2.Conn holds its lock.
func (s *stream) WriteObject(any) error {
	call := s.sending
	s.sending = nil
	if call == nil {
		return errors.New("jsonrpc2 sent something other than a call")
	}
	call.frame.raw("id", string(call.id))
	return s.c.out.put(context.Background(), call.frame.line(), noLimit)
}

// Close is called by jsonrpc2.Conn at its own end; Run closes what there is to close.
func (s *stream) Close() error { return nil }

// inputEnded is called on the read loop, once. It ends the bodies before jsonrpc2.Conn can,
// so that their contexts carry this package's cause.
func (c *Conn) inputEnded(err error) {
	if !errors.Is(err, io.EOF) {
		c.readErr = err
	} else if c.trace != nil {
		c.trace("in_end", nil)
	}
	c.end(ErrClosed)
	close(c.read)
}
