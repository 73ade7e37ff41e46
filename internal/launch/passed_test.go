package launch

import (
	"slices"
	"testing"
)

// TestEnv_Passed is about what the user passes to commands by name (X1).
func TestEnv_Passed(t *testing.T) {
	t.Parallel()
	const secret = "local-configured-value"
	tests := []struct {
		name, entry, passed string
		kept                bool
	}{
		{"by name", "PYTHONPATH=/w/src", "PYTHONPATH", true},
		{"by value", "DATABASE_URL=postgres://u:p@localhost/db", "DATABASE_URL", true},
		{"a key of the user's", "STRIPE_API_KEY=x", "STRIPE_API_KEY", true},
		{"another", "STRIPE_API_KEY=x", "STRIPE_API", false},
		{"the configured key", "MY_KEY=" + secret, "MY_KEY", false},
		{"loaded into the helper", "LD_PRELOAD=/x.so", "LD_PRELOAD", false},
		{"read by the shell", "BASH_ENV=/x", "BASH_ENV", false},
		{"read by git", "GIT_EXTERNAL_DIFF=/x", "GIT_EXTERNAL_DIFF", false},
		{"of an outer command", cookieName + "=x", cookieName, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := EnvOptions{Secrets: []string{secret}, Passed: []string{tt.passed}}
			if env, _ := Env([]string{tt.entry}, o); slices.Contains(env, tt.entry) != tt.kept {
				t.Errorf("%q: %q", tt.entry, env)
			}
			if slices.Contains(ProgramEnv([]string{tt.entry}, o), tt.entry) {
				t.Errorf("%q reaches a program that is not the model's command", tt.entry)
			}
		})
	}
}
