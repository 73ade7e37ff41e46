package builtin

import (
	"context"
	"errors"
	"io/fs"

	"acp-agent/tools"
)

// textOf is the text of a file as the user sees it. The operation is what could
// not be done when it cannot be read.
func textOf(ctx context.Context, rt tools.Runtime, operation, path string) (tools.Text, error) {
	text, err := rt.FS().ReadText(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !text.Exists:
		return text, tools.Missing(path)
	case err != nil:
		return text, fileFailure(operation, path, err)
	case hasNUL(text.Content):
		return text, tools.BinaryRefused(path)
	}
	return text, nil
}
