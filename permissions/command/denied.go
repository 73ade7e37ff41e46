package command

import (
	"strings"
)

// denial finds what is denied, whatever the list and the rules say.
type denial struct {
	*paths
	// fetched holds the files that the network commands of this text have written.
	fetched map[string]bool
}

// denied returns the deny, or else the finding of R118, that is due to a command whatever the list says
// about it.
func (d *denial) denied(p *Part, s simple) finding {
	d.noteWrites(p, s)
	f := firstDeny(
		d.deletesAll(s),
		d.device(s),
		privilege(s),
		power(s),
		d.ownsAll(s),
		d.persistence(s),
		reverseShell(s),
		d.fromNetwork(s),
		d.exfiltrates(s),
		d.readsSecret(s),
	)
	if f.set {
		return f
	}
	d.noteFetched(s)
	return dangerous(s)
}

// dangerous reports the commands that R118 calls dangerous, by program and option.
func dangerous(s simple) finding {
	switch s.name() {
	case "dd", "format", "format.com", "shred", "mkswap":
		return asksEachTime(reasonDangerous)
	case "rm":
		if hasFlag(s, "rR", "--recursive") && hasFlag(s, "f", "--force") {
			return asksEachTime(reasonDangerous)
		}
	}
	return finding{}
}

// noteWrites records the files that a command is known to change, so that rules about paths hold for them.
func (d *denial) noteWrites(p *Part, s simple) {
	for _, w := range filesWritten(s) {
		if !w.static {
			continue
		}
		if names, ok := s.at.join(w.value); ok {
			for _, name := range names {
				resolved, _ := d.env.Inside(name)
				if resolved == "" {
					resolved = name
				}
				p.Wrote = append(p.Wrote, resolved)
			}
		}
	}
}

// filesWritten returns the operands that a command changes, creates or removes.
func filesWritten(s simple) []word {
	ops := operands(s)
	switch s.name() {
	case "rm", "rmdir", "unlink", "shred", "truncate", "touch", "mkdir", "tee", "mv", "mkfifo", "mknod", "split":
		return ops
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		return ops[min(1, len(ops)):]
	case "cp", "ln", "install", "rsync", "scp":
		return append(ops[max(0, len(ops)-1):], optionValues(s, "-t", "--target-directory")...)
	case "sed", "perl", "ruby", "awk", "gawk":
		if hasFlag(s, "i", "--in-place") {
			return ops[min(1, len(ops)):]
		}
	case "dd":
		for _, w := range ops {
			if name, ok := strings.CutPrefix(w.value, "of="); ok {
				return []word{w.piece(name)}
			}
		}
	case "curl":
		return optionValues(s, "-o", "--output")
	case "wget":
		return optionValues(s, "-O", "--output-document")
	case "git":
		if sub := subcommand(s); sub == "rm" || sub == "mv" {
			return ops[min(1, len(ops)):]
		}
	}
	return nil
}
