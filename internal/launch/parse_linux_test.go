package launch

import (
	"strconv"
	"testing"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stat string
		want       process
		ok         bool
	}{
		{"plain", "12 (sh) S 7 12 12 0 -1", process{parent: 7}, true},
		{"zombie", "12 (sh) Z 7 12 12", process{parent: 7, dead: true}, true},
		{"name like a stat line", "12 (a) R 1 (b) S 7 12", process{parent: 7}, true},
		{"newline in name", "12 (a\n) S 1) S 7 12", process{parent: 7}, true},
		{"cut short", "12 (sh) S", process{}, false},
		{"no name", "12 sh S 7", process{}, false},
		{"empty", "", process{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := parseStat([]byte(tt.stat)); got != tt.want || ok != tt.ok {
				t.Errorf("got %+v, %v; want %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("sh", 7)
	f.Add(") Z 1 (", 99)
	f.Fuzz(func(t *testing.T, name string, parent int) {
		got, ok := parseStat([]byte("12 (" + name + ") S " + strconv.Itoa(parent) + " 12 12 0 -1"))
		if !ok || got.parent != parent || got.dead {
			t.Errorf("a process named %q: got %+v, %v; want parent %d", name, got, ok, parent)
		}
	})
}
