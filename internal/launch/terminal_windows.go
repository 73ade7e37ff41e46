package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// PrepareTerminal has no Windows form: it always fails with
// [errors.ErrUnsupported], and the caller uses [Launcher.StartStreams].
func (l *Launcher) PrepareTerminal(string, Spec, io.Writer) (argv []string, p *Process, err error) {
	return nil, nil, fmt.Errorf("launch: a command in the client's terminal: %w", errors.ErrUnsupported)
}

func helpTerminal(string, []Step) int {
	fmt.Fprintln(os.Stderr, "acp-agent: commands in a terminal of the editor are not supported here")
	return exitFailed
}
