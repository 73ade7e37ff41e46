package schematest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EnvDir names the environment variable with the folder of schema.json.
const EnvDir = "ACP_SCHEMA_DIR"

// installed is where `make interop` puts the schema, below the module's root.
const installed = "testdata/interop/node_modules/@agentclientprotocol/sdk/schema/v1"

// Dir returns the folder of schema.json: the one that ACP_SCHEMA_DIR names, or else the
// one of the npm package installed for the interoperability tests.
func Dir() (string, error) {
	dir := os.Getenv(EnvDir)
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, filepath.FromSlash(installed))
	}
	if _, err := os.Stat(filepath.Join(dir, "schema.json")); err != nil {
		return "", fmt.Errorf("no ACP schema; set %s or install the npm package: %w", EnvDir, err)
	}
	return dir, nil
}

// moduleRoot looks for go.mod in the working directory and above.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		return "", fmt.Errorf("find the module's root: %w", err)
	}
}
