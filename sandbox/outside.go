package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"acp-agent/internal/pathname"
)

// Outside makes the policy of a program of the user's own that runs outside of the sandbox and is led by settings of the
// user's: it has all that the user has, but what a command of such a request could have written is not there for it, and
// neither is what this process's other sessions could ([Box.Give]), nor what lies in the directories of earlier ones, unless
// such a directory holds the home. Whatever those settings name, and however, then leads
// to nothing that a command made. On an error, which says why the policy cannot be made, the program must not run.
func (b *Box) Outside(ctx context.Context, r Request, earlier []string) (*Policy, error) {
	// The most that a command can be given.
	r.Reading, r.Network, r.Packages, r.GitConfig, r.Caches = false, true, true, true, ""
	c, err := b.Confine(ctx, r)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	if !c.Report.Kind.HasView() && c.Report.Kind != Seatbelt {
		return nil, fmt.Errorf("a program outside of the sandbox cannot be kept from what commands can write, with the sandbox %q", c.Report.Kind)
	}
	p := &Policy{Kind: c.Policy.Kind, Program: c.Policy.Program, Outside: true, Network: true}
	// What lies in our own directories is other sessions', too.
	p.Masked = slices.Concat(c.Policy.Writable, b.given.all(), b.Packages, b.Own, nonEmpty(b.CacheDir), nonEmpty(r.Private), nonEmpty(r.Tmp))
	home := b.gate()
	for _, dir := range p.Masked {
		if real := resolved(dir); real == "/" || home.real != "" && home.holdsHome(dir) {
			return nil, errors.New("commands can write in the home directory, and so all of the settings")
		}
	}
	for _, dir := range earlier {
		if real := resolved(dir); real != "" && real != "/" && !home.holdsHome(dir) {
			p.Masked = append(p.Masked, dir)
		}
	}
	return p, nil
}

// Give says that a session, its commands or its other tools, may write in some directories. They are not there for a program
// with Outside from then on, also when the session has ended. A nil Box keeps none.
func (b *Box) Give(dirs ...string) {
	if b != nil {
		b.given.add(dirs, slices.Concat(b.Own, nonEmpty(b.CacheDir)))
	}
}

// Given are the directories that sessions of this process were given, without those among our own.
func (b *Box) Given() []string {
	if b == nil {
		return nil
	}
	return b.given.all()
}

// GivenAbove reports whether a directory lies in one that a session of this process may write in: it may put another in its
// place at any moment.
func (b *Box) GivenAbove(dir string) bool {
	return slices.ContainsFunc(b.Given(), func(given string) bool { return given != dir && pathname.Contains(given, dir) })
}

// covers are the places of a policy with Outside, without places that lie in another one.
func (p *Policy) covers() []place {
	var kept []place
	for _, at := range p.places() {
		if !slices.ContainsFunc(kept, func(above place) bool { return pathname.Contains(above.path, at.path) }) {
			kept = append(kept, at)
		}
	}
	return kept
}

// directories are the directories that sessions of this process were given to write in. The zero value is none. It is safe for
// concurrent use.
type directories struct {
	mu    sync.Mutex
	paths map[string]bool
}

// add adds directories, unless they lie in one of in.
func (d *directories) add(dirs, in []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, dir := range dirs {
		if slices.ContainsFunc(in, func(above string) bool { return above != "" && pathname.Contains(above, dir) }) {
			continue
		}
		if d.paths == nil {
			d.paths = map[string]bool{}
		}
		d.paths[dir] = true
	}
}

func (d *directories) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]string, 0, len(d.paths))
	for path := range d.paths {
		all = append(all, path)
	}
	return all
}
