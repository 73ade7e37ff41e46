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

// decode reads the arguments of a tool, with an *Error when they do not fit. Arguments can
// be as large as a file; reading them ends with ctx.
func decode[A any](ctx context.Context, id string, raw json.RawMessage) (args A, err error) {
	if len(raw) <= decodePiece {
		err = json.Unmarshal(raw, &args)
	} else {
		err = decodeInPieces(ctx, raw, &args)
	}
	switch {
	case err == nil:
		return args, nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return args, context.Cause(ctx)
	}
	return args, Errorf(BadInput, "arguments of %s: %v", id, err)
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
