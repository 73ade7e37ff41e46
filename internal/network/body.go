package network

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// readBody reads and decodes a body: at most MaxBytes of it as it comes, and
// most once it is decoded, so that neither an endless body nor one that unpacks
// to gigabytes fills memory (N6).
func readBody(response *http.Response, most int64) (body []byte, cut bool, err error) {
	raw := &io.LimitedReader{R: response.Body, N: max(MaxBytes, most)}
	decoded, err := decode(response.Header.Values("Content-Encoding"), raw)
	if errors.Is(err, io.EOF) {
		return nil, false, nil // no body: of HEAD, or an empty one
	}
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(decoded, most+1))
	}
	switch {
	case int64(len(body)) > most:
		return body[:most], true, nil
	case raw.N == 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)):
		// Our own limit ended the stream, unless nothing follows.
		_, after := io.ReadFull(response.Body, make([]byte, 1))
		switch {
		case after == nil:
			return body, true, nil
		case !errors.Is(after, io.EOF):
			return nil, false, after
		}
	}
	return body, false, err
}

// decode undoes a content coding that we said we accept. One coding is enough:
// layers of them serve only to make a small body large. io.EOF means that there
// is nothing to decode.
func decode(codings []string, raw io.Reader) (io.Reader, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(codings, ",")))
	switch coding {
	case "", "identity":
		return raw, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(raw)
	case "deflate":
		// The name means zlib, but some servers send the bare stream.
		buffered := bufio.NewReader(raw)
		head, err := buffered.Peek(2)
		switch {
		case len(head) == 0:
			return nil, err
		case len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
			return zlib.NewReader(buffered)
		}
		return flate.NewReader(buffered), nil
	}
	return nil, fmt.Errorf("the body is encoded as %q, which cannot be read", coding)
}
