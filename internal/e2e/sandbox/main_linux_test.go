package sandbox

import (
	"os"
	"testing"

	"acp-agent/internal/testkit/agenttest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == probeArg {
		os.Exit(probe(os.Args[2]))
	}
	agenttest.Main(m)
}
