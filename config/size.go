package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as text such as "512MiB" or "2GiB"; "0" means
// no limit.
type Size struct{ Bytes uint64 }

// units are what may follow the number of a Size.
var units = [...]struct {
	name  string
	bytes uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := string(text), uint64(1)
	for _, u := range units {
		if before, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = before, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n > math.MaxInt64/unit || unit == 1 && n != 0 {
		return fmt.Errorf(`expects a size with a unit, such as "512MiB" or "2GiB", or "0", found %q`, text)
	}
	s.Bytes = n * unit
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String writes the size with the largest unit that holds it whole.
func (s Size) String() string {
	for i := len(units) - 1; i >= 0; i-- {
		if u := units[i]; s.Bytes > 0 && s.Bytes%u.bytes == 0 {
			return fmt.Sprintf("%d%s", s.Bytes/u.bytes, u.name)
		}
	}
	return strconv.FormatUint(s.Bytes, 10)
}

// lower takes another limit that is stricter.
func (s *Size) lower(to *Size) {
	if to != nil && to.Bytes > 0 && (s.Bytes == 0 || to.Bytes < s.Bytes) {
		*s = *to
	}
}

// Memory is an amount of memory: a [Size], or a share of the memory of the machine,
// written as "75%". A project's limit of the other form holds as well.
type Memory struct {
	Size
	Percent uint64
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Memory) UnmarshalText(text []byte) error {
	*m = Memory{}
	number, ok := strings.CutSuffix(string(text), "%")
	if !ok {
		return m.Size.UnmarshalText(text)
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n < 1 || n > 100 {
		return fmt.Errorf("expects a share from 1%% to 100%%, found %q", text)
	}
	m.Percent = n
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (m Memory) MarshalText() ([]byte, error) {
	if m.Percent > 0 {
		return fmt.Appendf(nil, "%d%%", m.Percent), nil
	}
	return m.Size.MarshalText()
}

// Of is the amount in bytes where the machine has total bytes, 0 when that is not
// known; the result is 0 when there is no limit.
func (m Memory) Of(total uint64) uint64 {
	limit := m.Size
	if m.Percent > 0 {
		limit.lower(&Size{total / 100 * m.Percent})
	}
	return limit.Bytes
}

// lower takes another limit that is stricter.
func (m *Memory) lower(to *Memory) {
	if to == nil {
		return
	}
	m.Size.lower(&to.Size)
	if to.Percent > 0 && (m.Percent == 0 || to.Percent < m.Percent) {
		m.Percent = to.Percent
	}
}
