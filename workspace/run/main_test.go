package run_test

import (
	"testing"

	"acp-agent/internal/testkit/worktest"
)

// TestMain lets the test binary serve as the helper that runs commands.
func TestMain(m *testing.M) { worktest.Main(m) }
