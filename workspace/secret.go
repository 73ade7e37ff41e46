package workspace

// SecretName reports whether a path is that of a secret, or of one of the agent's own
// files, by its name alone (P8).
func (w *Workspace) SecretName(path string) bool { return w.o.Protection.Secret(path) }
