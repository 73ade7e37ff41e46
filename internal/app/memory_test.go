package app

import "testing"

// The ballast keeps the collector from a small heap, but not from what the user says of it.
func TestNewBallast(t *testing.T) {
	for _, tt := range []struct {
		name, gogc, limit string
		want              int
	}{
		{name: "by itself", want: ballastBytes},
		{name: "with GOGC", gogc: "100"},
		{name: "with GOMEMLIMIT", limit: "1GiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("GOGC", tt.gogc)
			t.Setenv("GOMEMLIMIT", tt.limit)
			if got := len(newBallast()); got != tt.want {
				t.Errorf("a ballast of %d bytes, want %d", got, tt.want)
			}
		})
	}
}
