package app

import (
	"maps"
	"slices"
	"testing"

	"acp-agent/config"
	"acp-agent/permissions/watchdog"
)

// Every existing policy may be configured, and no other.
func TestWatchdog_Policies(t *testing.T) {
	there := slices.Sorted(maps.Keys(watchdog.Policies()))
	if named := slices.Sorted(slices.Values(config.WatchdogPolicies())); !slices.Equal(there, named) {
		t.Errorf("configured by %v, there are %v", named, there)
	}
}
