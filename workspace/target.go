package workspace

import "acp-agent/tools"

// Target is where a path led at one moment. A call resolves each of its paths
// once and shares the Target; the path is resolved again where it is used.
type Target struct {
	// Path is absolute, as it was asked for; Real is where it leads. A path that cannot be
	// followed leads to itself.
	Path, Real string
	// Secret says that the path, a link on its way or what it leads to has the name of a
	// secret.
	Secret bool

	noFollow bool
	trail    *trail // nil when the path cannot be followed
}

// Locate resolves a path, as a model writes it. With noFollow it is the name that is
// resolved: a link that has it is not followed.
func (c *checker) Locate(path string, noFollow bool) Target {
	abs := c.abs(path)
	to := Target{Path: abs, Real: abs, Secret: c.protection.Secret(abs), noFollow: noFollow}
	look := follow
	if noFollow {
		look = followName
	}
	c.count(Resolution)
	t, err := look(abs)
	if err == nil {
		to.trail, to.Real, to.Secret = t, t.real(), to.Secret || c.secret(t)
	}
	return to
}

// CheckTarget is the capability check of a path that was resolved before; see Check and
// CheckName. A path in the session's own directory is resolved anew, since the directory is
// created when it is meant.
func (c *checker) CheckTarget(to Target, write bool) (Access, error) {
	switch {
	case to.trail == nil, c.private.Contains(to.Path):
		if to.noFollow {
			return c.CheckName(to.Path)
		}
		return c.Check(to.Path, write)
	case to.noFollow:
		return c.checkName(to.trail)
	case !write && c.protection.Secret(to.Path):
		return Access{}, tools.SecretRefused(to.Path)
	}
	return c.check(to.trail, write)
}

// Expect tells the call where its paths led when it was judged. What it reads or changes is
// resolved all the same; what only has to name the file is not.
func (k *walker) Expect(targets map[string]Target) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.targets = targets
}

// judgedTarget is where a path led when the call was judged.
func (k *walker) judgedTarget(abs string) (Target, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	to, ok := k.targets[abs]
	return to, ok
}

// Step is something that a workspace does and that costs time; see Options.Count.
type Step int

// The steps.
const (
	// Resolution is a path that is followed to where it leads.
	Resolution Step = iota
	// TextRead is a text file that is read for a tool.
	TextRead
)
