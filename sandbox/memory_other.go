//go:build !linux && !darwin

package sandbox

import "strings"

// writeMachine has nothing to say: there are no trials here.
func writeMachine(*strings.Builder) {}
