//go:build !linux

package sandbox

import (
	"errors"

	"acp-agent/internal/launch"
)

var errLinuxOnly = errors.New("this kind of sandbox is there on Linux only")

func (*Policy) bubblewrap(*launch.Start) error { return errLinuxOnly }

func (*Policy) namespaces(*launch.Start) error { return errLinuxOnly }

func (*Policy) landlock() error { return errLinuxOnly }
