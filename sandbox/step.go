package sandbox

import (
	"fmt"

	"acp-agent/internal/launch"
)

// Step confines a command that a helper is about to start, as its policy says. It
// is the step of launch.Helper. Without a policy it does nothing; a policy that
// cannot be carried out is an error, and the command is not started.
func Step(start *launch.Start) error {
	p, err := decodePolicy(start.Spec.Policy)
	if err != nil || p == nil {
		return err
	}
	switch p.Kind {
	case Bubblewrap:
		err = p.bubblewrap(start)
	case Namespaces:
		err = p.namespaces(start)
	case Landlock:
		err = p.landlock()
	case Seatbelt:
		start.Argv = p.seatbeltArgv(start.Argv)
	default:
		err = fmt.Errorf("there is no sandbox of kind %q", p.Kind)
	}
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}
