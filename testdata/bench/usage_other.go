//go:build !linux

package main

import (
	"math"
	"time"
)

// cpuOf is the CPU time of a running process; it is known on Linux only.
func cpuOf(int) (time.Duration, error) { return 0, nil }

// memoryOf is the memory of a running process; it is known on Linux only.
func memoryOf(int) (pss, peak float64, err error) { return math.NaN(), math.NaN(), nil }
