package run

import (
	"fmt"

	"acp-agent/internal/textcut"
	"acp-agent/sandbox"
	"acp-agent/tools"
)

// Shortage is what a command seemed to fail for want of, which the user can grant to it.
type Shortage struct {
	Network, Writing bool
	// Outside says that the sandbox stopped it otherwise, and that the user may let it run
	// outside, which no answer grants for good.
	Outside bool
}

// ForGood is what of it the user can grant to the very command for good.
func (l Shortage) ForGood() Shortage { return Shortage{Network: l.Network, Writing: l.Writing} }

// And is what is lacking in one of two, or both.
func (l Shortage) And(other Shortage) Shortage {
	return Shortage{l.Network || other.Network, l.Writing || other.Writing, l.Outside || other.Outside}
}

// unwritable are texts by which programs say that they may not write.
var unwritable = map[sandbox.Kind][]string{
	sandbox.Bubblewrap: {"read-only file system", "erofs"},
	sandbox.Namespaces: {"read-only file system", "erofs"},
	// These refuse writing as a file's mode does.
	sandbox.Landlock: {"read-only file system", "erofs", "permission denied", "eacces"},
	sandbox.Seatbelt: {"operation not permitted", "eperm"},
}

// noteLacking notes in the result of a command that failed what it seemed to need and
// had not. Nothing is run again.
func (c *Commands) noteLacking(exit *tools.Exit, cmd confined, tail *textcut.Tail) {
	noSocket := cmd.report.Kind == sandbox.Landlock && refusedSocket(tail)
	if !cmd.network && len(cmd.proxy.notes()) == 0 && (wantsNetwork(tail) || noSocket) {
		c.addLacking(Shortage{Network: true})
		exit.Notes = append(exit.Notes, cmd.networkNote())
		if noSocket {
			return // of what else stopped it the next run tells
		}
	}
	outside := c.runner.OffersOutside() && cmd.report.Confines() && !cmd.grant.Reading && !cmd.grant.Unattended
	if outside && (says(tail, unwritable[cmd.report.Kind]) || says(tail, refused[:])) {
		c.addLacking(Shortage{Outside: true})
		exit.Notes = append(exit.Notes, fmt.Sprintf("The sandbox (%s) seems to have stopped it. %s", cmd.report.Kind, outsideNote))
		return
	}
	if !says(tail, unwritable[cmd.report.Kind]) {
		return
	}
	if cmd.grant.Reading && !cmd.grant.Held {
		c.addLacking(Shortage{Writing: true})
	}
	exit.Notes = append(exit.Notes, cmd.writingNote())
}

// refused are texts by which programs say that the kernel refused them something.
var refused = [...]string{"operation not permitted", "eperm"}

// outsideNote says what to do about it.
const outsideNote = "Do it in another way, inside the project, or send the same command again: the user is asked then whether it may run outside of the sandbox."

// OffersOutside reports whether the user may let a command run outside of the sandbox.
func (r *Runner) OffersOutside() bool { return r.o.Sandbox.OfferOutside && r.o.Sandbox.Box != nil }

// ShowsMachine reports whether a command that does nothing but show the machine may run outside of a
// sandbox that was found: the user has demanded none.
func (r *Runner) ShowsMachine(report sandbox.Report) bool {
	return report.Confines() && r.o.Sandbox.Box != nil && r.o.Sandbox.Level == ""
}

// noteKept notes in the result what the command could not change of protected names. Git
// reports success where it could not replace a file.
func (c *Commands) noteKept(exit *tools.Exit, cmd confined, tail *textcut.Tail) {
	switch {
	case !cmd.before.mounts() && !cmd.holds:
	case exit.Code == 0 && says(tail, []string{gitKept}):
		exit.Notes = append(exit.Notes, "Git could not replace all files: "+keptNote+" They have their old texts, and git shows them as changed: "+
			"do not commit that. Look at git status, and restore them with a command that names them; the user is asked to allow it.")
	case exit.Code != 0 && says(tail, keptByMount[:]):
		c.addLacking(Shortage{Writing: true})
		exit.Notes = append(exit.Notes, keptNote+" Change them with a file tool, or send the same command again, and the user is asked to run it with writing. "+
			"What the command changed besides stays.")
	}
}

// keptNote says what is kept from a command by mounts.
const keptNote = "Names by which other programs run code are read-only for a command that the user was not asked about, and it cannot move directories that hold secrets."

// gitKept is what git says of a file that it could not replace.
const gitKept = "unable to unlink old"

// keptByMount are texts by which programs say that a mounted file cannot be written, replaced
// or removed.
var keptByMount = [...]string{"read-only file system", "erofs", "device or resource busy", "ebusy"}

// writingNote says what to do about files that cannot be written.
func (c *confined) writingNote() string {
	if !c.grant.Reading {
		return fmt.Sprintf("Commands write only in the project, the scratch directory and /tmp (sandbox: %s). If this one needs another place, "+
			"use one of those instead, or say what it needs: the user can open the session with that directory, or add it to roots.write in the configuration.", c.report.Kind)
	}
	note := fmt.Sprintf("Everything is read-only for this command (sandbox: %s)", c.report.Kind)
	switch {
	case c.grant.Held:
		return note + ", because nothing is changed in this mode, and it seems to need to write."
	case c.grant.Unattended:
		return note + ", because it runs without a question, and it seems to need to write. No user is here who could allow that."
	}
	return note + ", because it runs without a question, and it seems to need to write." +
		" Send the same command again, and the user is asked to run it with writing."
}

func (c *Commands) addLacking(l Shortage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lacking = c.lacking.And(l)
}

// Shortage returns what commands of the call seemed to fail for want of (S4).
func (c *Commands) Shortage() Shortage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lacking
}
