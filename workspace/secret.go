package workspace

// SecretName reports whether a path is that of a secret, or of one of the agent's own
// files, by its name alone (P8).
func (w *Workspace) SecretName(path string) bool { return w.o.Protection.Secret(path) }

// leadsToSecret reports whether an absolute path names a secret, as it is written or
// where it leads.
func (w *Workspace) leadsToSecret(abs string) bool {
	if w.o.Protection.Secret(abs) {
		return true
	}
	t, err := follow(abs)
	return err == nil && w.secret(t)
}
