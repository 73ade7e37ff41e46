package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// decodePiece is how much of a call's arguments is read between two looks at the end of
// the call, in bytes.
const decodePiece = 64 << 10

// decode parses the arguments of a tool. Arguments can be as large as a file; parsing them
// ends with ctx.
func decode[A any](ctx context.Context, raw json.RawMessage) (args A, err error) {
	if len(raw) <= decodePiece {
		err = json.Unmarshal(raw, &args)
		return args, err
	}
	err = decodeInPieces(ctx, raw, &args)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return args, context.Cause(ctx)
	}
	return args, err
}

// badArgs is the failure of a call whose arguments do not fit the tool's type; the end of
// the call stays what it is.
func badArgs(ctx context.Context, id string, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return Errorf(BadInput, "arguments of %s: %v", id, err)
}

// decodeInPieces reads one JSON value, and an error when another follows it.
func decodeInPieces(ctx context.Context, raw json.RawMessage, value any) error {
	decoder := json.NewDecoder(&pieces{ctx.Err, bytes.NewReader(raw)})
	if err := decoder.Decode(value); err != nil {
		return err
	}
	switch _, err := decoder.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errors.New("more than one JSON value")
}

// pieces reads a text in pieces, until ended gives an error.
type pieces struct {
	ended func() error
	from  io.Reader
}

func (p *pieces) Read(b []byte) (int, error) {
	if err := p.ended(); err != nil {
		return 0, err
	}
	return p.from.Read(b[:min(len(b), decodePiece)])
}
