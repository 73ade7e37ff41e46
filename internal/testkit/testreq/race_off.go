//go:build !race

package testreq

const raceEnabled = false
