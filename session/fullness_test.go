package session

import "testing"

func TestFullness(t *testing.T) {
	type step struct {
		used, window int
		warned       bool
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"once", []step{{79, 100, false}, {80, 100, true}, {85, 100, false}, {20, 100, false}, {99, 100, false}}},
		{"a window that is not known", []step{{1_000_000, 0, false}}},
		{"another window", []step{{90, 100, true}, {90, 1000, false}, {850, 1000, true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f fullness
			for i, s := range tt.steps {
				if got := f.note(s.used, s.window); (got != "") != s.warned {
					t.Errorf("step %d: %d of %d: warned %q", i, s.used, s.window, got)
				}
			}
		})
	}
}
