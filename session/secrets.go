package session

import "acp-agent/permissions"

// secrets says which files a session does not read and keeps from its commands (P8): by
// their names, or because they are the agent's own.
type secrets struct {
	names   *permissions.Secrets
	tracked *tracked
	own     func(path string) bool
}

func newSecrets(h *Host, settings Settings) (secrets, error) {
	tracked := &tracked{}
	names, err := permissions.NewSecrets(settings.SecretNames, tracked.has)
	return secrets{names: names, tracked: tracked, own: h.ownFile}, err
}

// holds reports whether a file must not be read.
func (s secrets) holds(path string) bool { return s.names.Holds(path) || s.own(path) }

// masked reports whether commands are kept from a file. It is asked before each command, so
// that what git tracks is known before one can change that.
func (s secrets) masked(path string) bool {
	s.tracked.look()
	return s.names.Masked(path)
}
