package sources

import (
	"testing"

	"acp-agent/internal/testkit/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

// quick is for servers that do not answer: the first prompt waits for them as for a user's.
var quick = []string{agenttest.EnvQuick + "=1"}
