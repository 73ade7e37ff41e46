package commands

import (
	"testing"

	"acp-agent/internal/testkit/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }
