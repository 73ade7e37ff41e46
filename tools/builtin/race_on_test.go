//go:build race

package builtin_test

// slack is for the race detector, under which a library's loop over single bytes was seen
// to take forty times as long, and for the garbage collector.
const slack = 60
