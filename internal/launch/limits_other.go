//go:build !linux

package launch

// startedFiles returns nil: only the agent's own namespaces, which are Linux's, need the limit of open files that it was
// started with.
func startedFiles() *openFiles { return nil }

// ownLimits are of no use where a helper has a single command.
type ownLimits struct{}

func readOwnLimits() ownLimits { return ownLimits{} }
