package command_test

import (
	"testing"

	"acp-agent/internal/testkit/testreq"
)

func TestMain(m *testing.M) {
	testreq.Checks(30)
	m.Run()
}
