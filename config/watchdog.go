package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Watchdog names what judges each call once more before it runs (R121). Only the
// user's file may have it (T3).
type Watchdog struct {
	// Policies are built-in ones, see WatchdogPolicies.
	Policies []string `json:"policies"`
	// Commands are programs of the user's own.
	Commands []WatchdogCommand `json:"commands"`
}

// WatchdogCommand is a program that is asked about each call.
type WatchdogCommand struct {
	// Argv is the program, as an absolute path or a name on the PATH, and its
	// arguments. No shell is between.
	Argv []string `json:"argv"`
	// Timeout ends each call of it, which is then a denial; 0 means 5 s.
	Timeout Duration `json:"timeout"`
}

// WatchdogPolicies are the names of the built-in policies.
func WatchdogPolicies() []string { return []string{"bash", "no-network", "read-only"} }

// The time that a program has to judge a call.
const (
	defaultWatchdogTimeout = 5 * time.Second
	mostWatchdogTimeout    = 10 * time.Minute
)

func (s Sources) checkWatchdog(f *file, w *Watchdog) error {
	for i, name := range w.Policies {
		field := fmt.Sprintf("watchdog.policies[%d]", i)
		if err := f.problem(field, oneOf(name, WatchdogPolicies()...)); err != nil {
			return err
		}
		if slices.Contains(w.Policies[:i], name) {
			return f.errorf(field, "%q is named twice; keep one", name)
		}
	}
	for i := range w.Commands {
		c, field := &w.Commands[i], fmt.Sprintf("watchdog.commands[%d]", i)
		if len(c.Argv) == 0 || strings.ContainsRune(strings.Join(c.Argv, ""), 0) {
			return f.errorf(field, `expects {"argv": ["/path/of/program", ...]}`)
		}
		program, err := s.program(c.Argv[0])
		if err != nil {
			return f.errorf(field+".argv", "%w", err)
		}
		c.Argv[0] = program
		if c.Timeout.Duration == 0 {
			c.Timeout.Duration = defaultWatchdogTimeout
		}
		if c.Timeout.Duration > mostWatchdogTimeout {
			return f.errorf(field+".timeout", "must be at most %v, found %v", mostWatchdogTimeout, c.Timeout.Duration)
		}
	}
	return nil
}

// program is a program's absolute path, or its plain name.
func (s Sources) program(name string) (string, error) {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(name), "~/"); ok && s.HomeDir != "" {
		return filepath.Join(s.HomeDir, rest), nil
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	if name == "" || filepath.Base(name) != name || !filepath.IsLocal(name) || name == "." {
		return "", fmt.Errorf("expects a program as an absolute path, one that starts with ~/, or a name on the PATH, found %q", name)
	}
	return name, nil
}
