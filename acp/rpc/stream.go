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

// stream is the jsonrpc2.ObjectStream under the connection, and the jsonrpc2.Handler
// above it. In between, jsonrpc2.Conn dispatches requests and matches responses, but
// only ever sees small stand-ins: the message itself, with its raw id and parameters,
// goes past it. jsonrpc2's types are private and can be filled through JSON alone,
// which with the real message would cost three more parses of it, and lose ids that
// are negative, fractional or null.
type stream struct {
	c *Conn

	// current is the message whose stand-in ReadObject returned last. jsonrpc2 reads
	// and handles strictly in turn, on one goroutine.
	current *message

	// sending is the call that is about to be written. jsonrpc2 holds its own lock from
	// onSend to WriteObject.
	sending *outCall
}

// incoming stands in for every request and notification.
var incoming = []byte(`{"id":1,"method":"incoming"}`)

// ReadObject reads lines up to one that jsonrpc2 has to hear of. Lines that are no
// messages are answered here.
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
			// Whoever waits for this answer learns that it was no good.
			msg = &message{id: refused.response, err: Errorf(CodeInternalError, "malformed response: %s", refused.err.Message)}
		}
		if !msg.isResponse() {
			s.current = msg
			return json.Unmarshal(incoming, v)
		}
		if s.c.answered(msg) {
			return json.Unmarshal(fmt.Appendf(nil, `{"id":%s,"result":true}`, msg.id), v)
		}
		s.c.log.Debug("response to an unknown call ignored")
	}
}

// parse reads one line. Of one that was too long the outline is left.
func (s *stream) parse(line []byte, tooLong bool) (*message, *refusal) {
	if tooLong {
		return nil, s.c.lines.long.refusal(fmt.Sprintf("the line is longer than %d bytes", s.c.lines.max))
	}
	if s.c.trace != nil {
		s.c.trace("in", line)
	}
	return parseMessage(line)
}

// Handle serves the message that goes with the stand-in just read.
func (s *stream) Handle(ctx context.Context, _ *jsonrpc2.Conn, _ *jsonrpc2.Request) {
	if s.current.id == "" {
		s.c.notified(s.current)
		return
	}
	s.c.requested(ctx, s.current)
}

// onSend notes which call WriteObject is about to write.
func (s *stream) onSend(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
	if req == nil || len(req.ExtraFields) != 1 {
		return
	}
	if call, ok := req.ExtraFields[0].Value.(*outCall); ok {
		call.id = ID(req.ID.String())
		s.sending = call
	}
}

// WriteObject writes a call; nothing else goes out through jsonrpc2. It must not block:
// jsonrpc2's lock is held.
func (s *stream) WriteObject(any) error {
	call := s.sending
	s.sending = nil
	if call == nil {
		return errors.New("jsonrpc2 sent something that is no call")
	}
	return s.c.sendCall(call)
}

// Close is called by jsonrpc2 at its own end; Run closes what there is to close.
func (s *stream) Close() error { return nil }

// inputEnded is called on the read loop, once. It ends the bodies before jsonrpc2 can,
// so that their contexts carry our cause.
func (c *Conn) inputEnded(err error) {
	if !errors.Is(err, io.EOF) {
		c.readErr = err
	}
	c.end(ErrClosed)
	close(c.read)
}
