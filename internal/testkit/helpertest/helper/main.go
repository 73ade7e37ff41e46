package main

import (
	"fmt"
	"os"

	"acp-agent/internal/egress"
	"acp-agent/internal/launch"
	"acp-agent/internal/netns"
	"acp-agent/sandbox"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case launch.HelperArg:
			return launch.Helper(args[1:], sandbox.Step)
		case netns.HoldArg:
			return netns.Hold()
		case sandbox.ConnectArg:
			return egress.Connect(args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
		case sandbox.LoginArg:
			return egress.GitLogin(args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
		case sandbox.InnerArg:
			return sandbox.Inner(args[1:])
		case sandbox.CanaryArg:
			return sandbox.Canary(args[1:], os.Stdout)
		}
	}
	fmt.Fprintln(os.Stderr, "helper: it is started by tests alone")
	return 2
}
