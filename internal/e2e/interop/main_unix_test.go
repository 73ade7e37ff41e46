//go:build unix

package interop

import (
	"testing"

	"acp-agent/internal/testkit/agenttest"
)

func TestMain(m *testing.M) { agenttest.MainBusy(m, removeBuilt) }
