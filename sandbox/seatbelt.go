package sandbox

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// seatbeltArgv puts sandbox-exec before the command (macOS).
func (p *Policy) seatbeltArgv(argv []string) []string {
	return append([]string{p.Program, "-p", p.seatbeltProfile()}, argv...)
}

// seatbeltProfile is the policy in the language of sandbox-exec, in which the last
// rule that fits counts.
func (p *Policy) seatbeltProfile() string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n")
	if p.Outside {
		for _, at := range p.covers() {
			fmt.Fprintf(&b, "(deny file-read* file-write* process-exec* network-outbound (subpath %s))\n", strconv.Quote(at.path))
		}
		return b.String()
	}
	b.WriteString("(deny file-write*)\n")
	b.WriteString(`(allow file-write* (literal "/dev/null") (literal "/dev/zero"))` + "\n")
	if !p.Reading {
		b.WriteString(`(allow file-write* (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))` + "\n")
	}
	if !p.Network {
		b.WriteString("(deny network*)\n")
		if p.Proxy != 0 {
			fmt.Fprintf(&b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", p.Proxy)
		}
	}
	if p.Tmp != "" {
		fmt.Fprintf(&b, "(allow file-write* (subpath %s))\n", strconv.Quote(seatbeltPath(p.Tmp)))
	}
	for _, at := range p.places() {
		path := strconv.Quote(at.path)
		switch at.access {
		case writable:
			fmt.Fprintf(&b, "(allow file-read* file-write* (subpath %s))\n", path)
		case readable:
			fmt.Fprintf(&b, "(allow file-read* (subpath %s))\n", path)
		case concealed: // names and times are seen, which programs need on the way to what is shown
			fmt.Fprintf(&b, "(deny file-read-data file-read-xattr file-write* network-outbound (subpath %s))\n", path)
		case readOnly:
			fmt.Fprintf(&b, "(deny file-write* (subpath %s))\n", path)
		case masked, secret:
			fmt.Fprintf(&b, "(deny file-read* file-write* network-outbound (subpath %s))\n", path)
		}
	}
	return b.String()
}

// seatbeltPath resolves links: profiles are compared with real paths.
func seatbeltPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
