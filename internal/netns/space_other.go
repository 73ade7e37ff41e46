//go:build !linux

package netns

import (
	"errors"
	"net"
)

// Space is a network namespace, which this system does not have.
type Space struct{}

// Start returns errors.ErrUnsupported.
func Start(string) (*Space, error) { return nil, errors.ErrUnsupported }

// Enter is nothing.
func (*Space) Enter() []string { return nil }

// Listen returns errors.ErrUnsupported.
func (*Space) Listen() (net.Listener, error) { return nil, errors.ErrUnsupported }

// Dial returns errors.ErrUnsupported.
func (*Space) Dial(int) (net.Conn, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Space) Close() {}

// Hold is the main of a holder. It fails.
func Hold() int { return 2 }
