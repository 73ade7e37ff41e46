package pipeline

import (
	"slices"

	"acp-agent/tools"
)

// distrust removes from the result of a tool from elsewhere what only the agent can know: where a sidecar is,
// and what was changed outside the session's directories.
func (e *ending) distrust() {
	plain := *e.execution.result
	plain.Truncated, plain.OutputPath = false, ""
	plain.TrackFiles = slices.DeleteFunc(slices.Clone(plain.TrackFiles), func(path string) bool {
		access, err := e.pipeline.Workspace.Check(path, true)
		return err != nil || !access.Inside || access.Path != path
	})
	e.execution.result = &plain
}

// distrusted removes from the error of a tool from elsewhere what only the agent can know: that
// the call was refused, or cancelled by the user.
func distrusted(failure *tools.Error) *tools.Error {
	if failure.Kind != tools.Denied && failure.Kind != tools.Aborted {
		return failure
	}
	plain := *failure
	plain.Kind, plain.DeniedBy = tools.Backend, ""
	return &plain
}
