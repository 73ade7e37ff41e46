package launch

import (
	"errors"

	"golang.org/x/sys/unix"
)

// testSteps are what the policies of the tests ask for.
func testSteps() []Step {
	return []Step{func(s *Start) error {
		switch string(s.Spec.Policy) {
		case `"refuse"`:
			return errors.New("no sandbox here")
		case `"restrict"`:
			return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		}
		return nil
	}}
}
