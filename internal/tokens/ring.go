package tokens

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// service is what the keyring's own window shows as the owner of a token.
const service = "acp-agent"

// ringWait bounds how long the keyring may take: a locked one asks the user.
const ringWait = 20 * time.Second

// errNone is the answer of a keyring that does not have the token.
var errNone = keyring.ErrNotFound

// ring is a keyring.
type ring interface {
	get(ctx context.Context, key string) (string, error)
	set(ctx context.Context, key, token string) error
	remove(ctx context.Context, key string) error
}

// system is the keyring of the system: of the Keychain, the Credential Manager, or the service that
// answers for the Secret Service.
type system struct{}

func (system) get(ctx context.Context, key string) (string, error) {
	return within(ctx, func() (string, error) { return keyring.Get(service, key) })
}

func (system) set(ctx context.Context, key, token string) error {
	_, err := within(ctx, func() (string, error) { return "", keyring.Set(service, key, token) })
	return err
}

func (system) remove(ctx context.Context, key string) error {
	_, err := within(ctx, func() (string, error) { return "", keyring.Delete(service, key) })
	return err
}

// within asks the keyring, which knows no context.
func within(ctx context.Context, ask func() (string, error)) (string, error) {
	// Without its address the library would start a program to find the bus.
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" && os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return "", errors.New("there is no session bus")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, ringWait, fmt.Errorf("it did not answer within %v", ringWait))
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // ends with the keyring's answer
		text, err := ask()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
