package sources

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

// quick is for servers that do not answer: the first prompt waits for them as for a user's.
var quick = []string{agenttest.EnvFirstWait + "=2s"}

// waitsFor is the environment of a run that is told these things of a server: quick if it
// does not answer.
func waitsFor(told []string) []string {
	if strings.Contains(strings.Join(told, "\n"), "has not answered yet") {
		return quick
	}
	return nil
}
