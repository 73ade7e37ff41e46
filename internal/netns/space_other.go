//go:build !linux

package netns

import (
	"context"
	"errors"
	"net"
)

// Space is a network namespace, which this system does not have.
type Space struct{}

// Start returns errors.ErrUnsupported.
func Start(string, []string) (*Space, error) { return nil, errors.ErrUnsupported }

// Enter returns nothing.
func (*Space) Enter() []string { return nil }

// Listen returns errors.ErrUnsupported.
func (*Space) Listen() (net.Listener, error) { return nil, errors.ErrUnsupported }

// Dial returns errors.ErrUnsupported.
func (*Space) Dial(context.Context, int) (net.Conn, error) { return nil, errors.ErrUnsupported }

// Listeners returns errors.ErrUnsupported.
func (*Space) Listeners() ([]Listener, error) { return nil, errors.ErrUnsupported }

// Listeners returns errors.ErrUnsupported.
func Listeners() ([]Listener, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Space) Close() {}

// Hold returns the exit code of a failure.
func Hold() int { return 2 }
