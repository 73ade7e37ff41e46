package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"acp-agent/internal/relay"
)

// Connect is the main of the process that ssh runs as its ProxyCommand within a sandbox. It asks the
// proxy that HTTPS_PROXY names for a connection to a host and port, its arguments, and copies
// between that connection and its standard streams. It returns the exit code.
func Connect(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := connect(args, getenv, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func connect(args []string, getenv func(string) string, stdin io.Reader, stdout io.Writer) error {
	proxy, err := url.Parse(getenv("HTTPS_PROXY"))
	if len(args) != 2 || err != nil || proxy.Host == "" {
		return errors.New("acp-agent: this is for commands in the sandbox, whose proxy HTTPS_PROXY names: HOST PORT")
	}
	server, err := net.Dial("tcp", proxy.Host)
	if err != nil {
		return fmt.Errorf("acp-agent: the proxy of the sandbox: %w", err)
	}
	defer server.Close()
	pair := net.JoinHostPort(args[0], args[1])
	if strings.ContainsAny(pair, "\r\n ") {
		return fmt.Errorf("acp-agent: %q is not a host", args[0])
	}
	if _, err := io.WriteString(server, connectRequest(pair, proxy.User)); err != nil {
		return fmt.Errorf("acp-agent: the proxy of the sandbox: %w", err)
	}
	in := bufio.NewReader(server)
	answer, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return fmt.Errorf("acp-agent: the proxy of the sandbox: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxHeaderBytes))
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	go func() { // ends with the process
		_, _ = io.Copy(server, stdin)
		_ = relay.CloseWrite(server)
	}()
	_, err = io.Copy(stdout, in)
	return err
}
