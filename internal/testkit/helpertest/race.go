//go:build race

package helpertest

const raceEnabled = true
