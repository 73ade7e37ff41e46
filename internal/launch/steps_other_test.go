//go:build !linux

package launch

func testSteps() []Step { return nil }
