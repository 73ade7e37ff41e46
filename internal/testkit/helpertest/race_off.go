//go:build !race

package helpertest

const raceEnabled = false
