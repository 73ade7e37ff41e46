package config_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPackageCaches(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"defaults", nil, []string{
			"/home/ann/go/pkg/mod", "/home/ann/.cargo/registry/src", "/home/ann/.cargo/git/checkouts", "/home/ann/.m2/repository",
		}},
		{"moved", map[string]string{
			"GOPATH": abs("/g1") + string(filepath.ListSeparator) + abs("/g2"), "GOROOT": abs("/opt/go"), "CARGO_HOME": abs("/c"),
		}, []string{
			"/g1/pkg/mod", "/opt/go/src", "/c/registry/src", "/c/git/checkouts", "/home/ann/.m2/repository",
		}},
		{"module cache", map[string]string{"GOMODCACHE": abs("/m"), "GOPATH": abs("/g")}, []string{
			"/m", "/home/ann/.cargo/registry/src", "/home/ann/.cargo/git/checkouts", "/home/ann/.m2/repository",
		}},
		{"variables do not open the home", map[string]string{"GOMODCACHE": abs("/home/ann"), "CARGO_HOME": abs("/c"), "GOROOT": abs("/")}, []string{
			"/src", "/c/registry/src", "/c/git/checkouts", "/home/ann/.m2/repository",
		}},
		{"relative places are no places", map[string]string{"GOMODCACHE": "m", "CARGO_HOME": "."}, []string{"/home/ann/.m2/repository"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var want []string
			for _, dir := range tc.want {
				want = append(want, abs(dir))
			}
			if diff := cmp.Diff(want, sources(tc.env, nil).PackageCaches()); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
		})
	}
	src := sources(nil, nil)
	src.HomeDir = ""
	if got := src.PackageCaches(); got != nil {
		t.Errorf("directories %q without a home", got)
	}
}
