package workspace

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"acp-agent/capability"
	"acp-agent/tools"
)

// walker takes a call to the places that its paths lead to, each time anew, within what
// the call may use. It is safe for concurrent use.
type walker struct {
	check    *checker
	id, tool string          // of the call
	over     context.Context // ends with the call

	mu    sync.Mutex
	scope *capability.Compiled
	bound func(Way) error
	// targets are where the call's paths led when it was judged, by absolute path.
	targets map[string]Target
}

// tries is how often a path is followed again when it leads elsewhere between look and use, as it
// does while editors save by renaming.
const tries = 16

// Confine bounds what the call may touch further, to what its tool declared;
// until then it may use all that the session may.
func (k *walker) Confine(scope capability.Compiled) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.scope = &scope
}

// Way is where a path led at the moment of its use.
type Way struct {
	// Asked is the absolute path that was used, Real where it led.
	Asked, Real string
	// Names are all that it went by: Asked, what links on the way made of it, Real.
	Names []string
	Write bool
}

// Bind has f look at each path at the moment of its use, once it is known to lie
// where the session may work; an error refuses it. The session's own directory is not
// looked at.
func (k *walker) Bind(f func(Way) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bound = f
}

// at does something at the place a path leads to, allowed for this call. It
// does it again when the path led elsewhere by the time it was used.
func (k *walker) at(ctx context.Context, op, path string, write bool, do func(*place) error) error {
	return k.where(ctx, op, path, write, k.check.follow, do)
}

// atName is at for changing a name: a link that has it is not followed.
func (k *walker) atName(ctx context.Context, op, path string, do func(*place) error) error {
	return k.where(ctx, op, path, true, k.check.followName, do)
}

// where is at and atName, with the function that follows the path.
func (k *walker) where(
	ctx context.Context, op, path string, write bool, follow func(abs string) (*trail, error), do func(*place) error,
) error {
	abs := k.check.abs(path)
	for range tries {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if k.ended() {
			return endedError(abs)
		}
		err := k.once(abs, write, follow, do)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return failure(op, abs, err)
		}
		return nil
	}
	return failure(op, abs, errMoved)
}

func (k *walker) once(abs string, write bool, follow func(string) (*trail, error), do func(*place) error) error {
	t, err := follow(abs)
	if err != nil {
		return err
	}
	r, rel := pick(k.check.usable(k.id), t, write)
	if r == nil || k.check.inOtherSession(t, r) {
		return k.check.outside(t, write)
	}
	if err := k.inScope(t, write); err != nil {
		return err
	}
	if err := k.inBounds(t, r, write); err != nil {
		return err
	}
	p, err := walk(r, t, rel)
	if err != nil {
		return err
	}
	defer p.close()
	return do(p)
}

// open is at for reading what must exist and hold no secret. The secret is
// refused before anything is said of the file's existence (R29).
func (k *walker) open(ctx context.Context, op, path string, do func(*place) error) error {
	if abs := k.check.abs(path); k.check.protection.Secret(abs) {
		return tools.SecretRefused(abs)
	}
	return k.at(ctx, op, path, false, func(p *place) error {
		switch {
		case k.check.secret(p.trail):
			return tools.SecretRefused(p.asked)
		case !p.exists():
			return &fs.PathError{Op: op, Path: p.asked, Err: fs.ErrNotExist}
		}
		return do(p)
	})
}

// inBounds asks the function of Bind.
func (k *walker) inBounds(t *trail, r *root, write bool) error {
	k.mu.Lock()
	bound := k.bound
	k.mu.Unlock()
	if bound == nil || r.own {
		return nil
	}
	return bound(Way{Asked: t.asked, Real: t.real(), Names: t.names, Write: write})
}

// inScope refuses a path beyond what the tool of this call declared.
func (k *walker) inScope(t *trail, write bool) error {
	k.mu.Lock()
	scope := k.scope
	k.mu.Unlock()
	real := t.real()
	switch {
	case scope == nil, scope.Write(real), !write && scope.Read(real):
		return nil // what may be overwritten may be looked at before
	}
	refused := tools.Undeclared(k.tool, real)
	refused.Path = t.asked
	return refused
}

// landing is where a path leads that an editor is given, and whether that still is
// the file that was checked, inside what the call may use.
func (k *walker) landing(path, real string, write bool) (where string, lands bool) {
	t, err := k.check.follow(path)
	if err != nil {
		return "", false
	}
	r, _ := pick(k.check.usable(k.id), t, write)
	return t.real(), r != nil && t.real() == real && !k.check.inOtherSession(t, r)
}

func (k *walker) ended() bool { return k.over.Err() != nil }
