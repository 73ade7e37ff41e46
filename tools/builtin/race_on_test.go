//go:build race

package builtin_test

// slack is for the race detector, which makes all work slower, and for the garbage
// collector.
const slack = 20
