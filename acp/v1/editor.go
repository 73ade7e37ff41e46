package v1

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/workspace"
)

// editor implements workspace.Editor with the client's fs/* methods.
type editor struct {
	*link
	client client
}

// CanRead reports whether the client offers fs/read_text_file.
func (e *editor) CanRead() bool { return e.client.readFiles }

// CanWrite reports whether the client offers fs/write_text_file.
func (e *editor) CanWrite() bool { return e.client.writeFiles }

// ReadTextFile reads lines of a file as the editor has it, unsaved changes
// included; line 0 and limit 0 mean the whole file.
func (e *editor) ReadTextFile(ctx context.Context, path string, line, limit int) (string, error) {
	params := &schema.ReadTextFileRequest{SessionID: schema.SessionId(e.session), Path: path}
	if line > 0 {
		params.Line = pointer(uint32(line))
	}
	if limit > 0 {
		params.Limit = pointer(uint32(limit))
	}
	// The type of the schema would read an answer without a text as an empty file.
	var response struct {
		Content *string `json:"content"`
	}
	err := e.conn.Call(ctx, schema.MethodFSReadTextFile, params, &response)
	if _, refused := errors.AsType[*rpc.Error](err); refused {
		return "", fmt.Errorf("%w: %w", workspace.ErrNoText, err)
	}
	if err == nil && response.Content == nil {
		err = errors.New("it has no content")
	}
	if err != nil {
		return "", err
	}
	return *response.Content, nil
}

// WriteTextFile writes a whole file through the editor.
func (e *editor) WriteTextFile(ctx context.Context, path, content string) error {
	params := &schema.WriteTextFileRequest{SessionID: schema.SessionId(e.session), Path: path, Content: content}
	return e.conn.Call(ctx, schema.MethodFSWriteTextFile, params, &schema.WriteTextFileResponse{})
}

func pointer[T any](v T) *T { return &v }
