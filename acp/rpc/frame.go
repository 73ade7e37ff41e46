package rpc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
)

// frame is one outgoing line under construction. The encoder writes into the same
// buffer, so that parameters are marshalled once and copied once, into the output.
type frame struct {
	buf bytes.Buffer
	enc *json.Encoder
}

var frames = sync.Pool{New: func() any {
	f := new(frame)
	f.enc = json.NewEncoder(&f.buf)
	f.enc.SetEscapeHTML(false) // `<` in code costs one byte, not six
	return f
}}

func newFrame() *frame {
	f, _ := frames.Get().(*frame)
	f.buf.Reset()
	f.buf.WriteString(`{"jsonrpc":"2.0"`)
	return f
}

// free gives the frame back; its bytes must not be used afterwards.
func (f *frame) free() {
	const keep = 64 << 10 // one large frame must not stay in memory for good
	if f.buf.Cap() <= keep {
		frames.Put(f)
	}
}

// raw adds a member whose value is JSON on one line already.
func (f *frame) raw(name, value string) {
	f.buf.WriteString(`,"` + name + `":`)
	f.buf.WriteString(value)
}

// value adds a member. A value that encodes as null is written as instead, and left out
// if that is empty.
func (f *frame) value(name string, v any, instead string) error {
	start := f.buf.Len()
	f.buf.WriteString(`,"` + name + `":`)
	from := f.buf.Len()
	if err := f.enc.Encode(v); err != nil {
		return err
	}
	f.buf.Truncate(f.buf.Len() - 1) // the encoder's newline
	if string(f.buf.Bytes()[from:]) == "null" {
		f.buf.Truncate(start)
		if instead != "" {
			f.raw(name, instead)
		}
	}
	return nil
}

// line closes the message and returns it with its newline.
func (f *frame) line() []byte {
	f.buf.WriteString("}\n")
	return f.buf.Bytes()
}

// notificationFrame builds a notification; params that encode as null are left out.
func notificationFrame(method string, params any) (*frame, error) {
	f := newFrame()
	f.method(method)
	if err := f.params(params); err != nil {
		f.free()
		return nil, err
	}
	return f, nil
}

// resultFrame builds an answer; a nil result is `{}`, which ACP wants instead of null.
func resultFrame(id ID, result any) (*frame, error) {
	f := newFrame()
	f.raw("id", string(id))
	if err := f.value("result", result, "{}"); err != nil {
		f.free()
		return nil, err
	}
	return f, nil
}

// errorFrame builds an error answer. Data that cannot be encoded is left out: the
// error itself matters more.
func errorFrame(id ID, e *Error) *frame {
	f := newFrame()
	f.raw("id", string(id))
	whole := *e
	whole.Message = oneLine(e.Message)
	if start := f.buf.Len(); f.value("error", &whole, "") != nil {
		f.buf.Truncate(start)
		whole.Data = nil
		_ = f.value("error", &whole, "") // an int and a string always encode
	}
	return f
}

func (f *frame) method(name string) {
	f.buf.WriteString(`,"method":`)
	f.buf.Write(appendQuoted(f.buf.AvailableBuffer(), name))
}

func (f *frame) params(v any) error {
	if v == nil {
		return nil
	}
	return f.value("params", v, "")
}

// appendQuoted quotes a method name or an id, which is nearly always plain ASCII.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always encodes
			return append(b, quoted...)
		}
	}
	return strconv.AppendQuote(b, s)
}
