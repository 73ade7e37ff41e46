package fileuri

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// Of is the URI of an absolute path; of a drive or a share on Windows, too.
func Of(path string) string {
	slashed := filepath.ToSlash(path)
	if host, rest, ok := strings.Cut(strings.TrimPrefix(slashed, "//"), "/"); ok && strings.HasPrefix(slashed, "//") {
		return (&url.URL{Scheme: "file", Host: host, Path: "/" + rest}).String()
	}
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// Path is the path of a file's URI, cleaned; ok is false for what is not a file.
func Path(uri string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path = u.Path
	if runtime.GOOS == "windows" {
		if drive := strings.TrimPrefix(path, "/"); len(drive) > 1 && drive[1] == ':' {
			// Servers write drives in either case.
			path = strings.ToUpper(drive[:1]) + drive[1:]
		}
		if u.Host != "" {
			path = "//" + u.Host + path
		}
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}
