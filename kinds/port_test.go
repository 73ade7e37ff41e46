package kinds

import (
	"slices"
	"testing"
)

func TestPort(t *testing.T) {
	t.Parallel()
	tests := []struct {
		port Port
		want string
	}{
		{Port{Number: 80}, "listens on port 80 of this machine"},
		{Port{Number: 5173, Inside: true}, "listens on port 5173 in the sandbox; `/jobs forward 5173` opens it on this machine"},
		{Port{Number: 5173, Inside: true, Open: 8080}, "listens on port 5173 in the sandbox, open on this machine at 127.0.0.1:8080"},
	}
	for _, tt := range tests {
		if got := tt.port.String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.port, got, tt.want)
		}
	}
	if got := PortNumbers([]Port{{Number: 1}, {Number: 2, Open: 3}}); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("numbers %v", got)
	}
	if got := PortNumbers(nil); got != nil {
		t.Errorf("of none: %v", got)
	}
}
