//go:build !race

package builtin_test

// slack is for the garbage collector, whose time counts as the tool's.
const slack = 2
