package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Sources is where Load looks. The zero value holds nothing, so that Load returns the
// defaults.
type Sources struct {
	// Getenv returns a variable of the environment; nil means that none is set.
	Getenv func(name string) string
	// ReadFile returns a whole file. Absence is an error that wraps fs.ErrNotExist; nil
	// means that no file exists.
	ReadFile func(path string) ([]byte, error)
	// ConfigDir is the XDG config directory; empty means that there is no user's file,
	// unless the environment names one.
	ConfigDir string
	// HomeDir stands for "~"; empty means that "~" is refused.
	HomeDir string
	// LoginFile is where `acp-agent login` stores the server; empty means that there is none.
	LoginFile string
	// ReadLogin reads LoginFile, and refuses what others may have written; nil means ReadFile.
	ReadLogin func(path string) ([]byte, error)
}

// UserFile returns the path of the user's file: the one that the environment names, else
// acp-agent/config.jsonc in the config directory, else "".
func (s Sources) UserFile() string {
	if path := s.getenv(EnvConfig); path != "" {
		return path
	}
	if s.ConfigDir == "" {
		return ""
	}
	return filepath.Join(s.ConfigDir, "acp-agent", "config.jsonc")
}

// ProjectFile returns the path of the project's file in a workspace.
func ProjectFile(workspace string) string {
	return filepath.Join(workspace, ".acp-agent", "config.jsonc")
}

// Load reads the user's file, the environment, what `acp-agent login` stored, and the file
// of the project in workspace, an absolute directory; empty means no project. Files that do not exist count as empty,
// except one that the environment names. A mistake is an *Error, and then nothing is
// returned that could be used by accident.
func Load(src Sources, workspace string) (*Config, error) {
	cfg := Default()
	if err := src.loadUser(cfg); err != nil {
		return nil, err
	}
	if err := src.loadEnv(cfg); err != nil {
		return nil, err
	}
	if err := src.loadLogin(&cfg.Model); err != nil {
		return nil, err
	}
	if workspace != "" {
		if err := src.loadProject(cfg, ProjectFile(workspace)); err != nil {
			return nil, err
		}
	}
	cfg.Roots.Read = appendNew(cfg.Roots.Read, src.PackageCaches()...)
	return cfg, nil
}

func (s Sources) loadUser(cfg *Config) error {
	path := s.UserFile()
	if path == "" {
		return nil
	}
	data, found, err := s.read(path)
	if err != nil {
		return err
	}
	if !found {
		if s.getenv(EnvConfig) != "" {
			return &Error{File: path, Problem: "does not exist, but " + EnvConfig + " names it; create it or unset the variable", Err: fs.ErrNotExist}
		}
		return nil
	}
	f := newFile(path, data)
	if err := f.decode(cfg); err != nil {
		return err
	}
	cfg.Files = append(cfg.Files, path)
	if _, set := f.where["model.base_url"]; set {
		cfg.Model.Origin.Server = "model.base_url"
	}
	f.applyAPI(&cfg.Model)
	if !cfg.Model.APIKey.IsZero() {
		cfg.Model.Origin.Key = "model.api_key"
	}
	return s.checkUser(f, cfg)
}

func (s Sources) read(path string) (data []byte, found bool, err error) {
	if s.ReadFile == nil {
		return nil, false, nil
	}
	data, err = s.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil // whether a directory is one is for others to judge
	}
	if err != nil {
		return nil, false, &Error{File: path, Problem: "cannot be read: " + cause(err).Error() + "; make it readable or remove it", Err: err}
	}
	return data, true, nil
}

// cause drops the path from an error of the file system, for the message names it.
func cause(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
