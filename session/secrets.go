package session

import "acp-agent/permissions"

// secrets decides which files a session does not read and hides from its commands (P8): by their names,
// or because they are the agent's own.
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

// masked reports whether a file is hidden from commands. It is called before each command, so that the
// index of git is read before the command can change it.
func (s secrets) masked(path string) bool {
	s.tracked.readFirst()
	return s.names.Masked(path)
}
