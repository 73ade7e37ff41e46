package app

import (
	"io/fs"
	"regexp"
	"sync"

	"acp-agent/config"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/strictread"
)

// configRead is what a recording keeps of one reading of the configuration.
type configRead struct {
	Env   map[string]string
	Files map[string]string
	// Login is the file of the login, where there is one.
	Login *string
}

// read reads the configuration with a record of its text. Of a configuration with a mistake only
// the mistake is recorded, because what in it is a key is not known.
func (c *core) read(sources config.Sources, cwd string) (*config.Config, error) {
	if c.tape == nil {
		return config.Load(sources, cwd)
	}
	if c.tape.Plays() {
		read, err := record.Ask(c.tape, "configuration", cwd, func() (configRead, error) { return configRead{}, nil })
		if err != nil {
			return nil, err
		}
		return config.Load(read.sources(sources), cwd)
	}
	notes := configNotes{read: configRead{Env: map[string]string{}, Files: map[string]string{}}}
	cfg, err := config.Load(notes.taking(sources), cwd)
	if err != nil {
		_, _ = record.Ask(c.tape, "configuration", cwd, func() (configRead, error) { return configRead{}, err })
		return nil, err
	}
	c.logger.redactValues(cfg.Secrets()...)
	c.redactKeys(cfg.Keys()...)
	_, _ = record.Ask(c.tape, "configuration", cwd, func() (configRead, error) { return notes.read, nil })
	return cfg, nil
}

// configNotes gathers what one reading of the configuration reads. config.Load may read from
// several goroutines.
type configNotes struct {
	mu   sync.Mutex // guards read
	read configRead
}

// taking returns sources that note what is read from them.
func (n *configNotes) taking(sources config.Sources) config.Sources {
	noted := sources
	noted.Getenv = func(name string) string {
		value := sources.Getenv(name)
		n.mu.Lock()
		defer n.mu.Unlock()
		if value != "" {
			n.read.Env[name] = shownVariable(name, value)
		}
		return value
	}
	noted.ReadFile = func(path string) ([]byte, error) {
		data, err := sources.ReadFile(path)
		n.mu.Lock()
		defer n.mu.Unlock()
		if err == nil {
			n.read.Files[path] = string(strictread.WithoutComments(data))
		}
		return data, err
	}
	if sources.ReadLogin != nil {
		noted.ReadLogin = func(path string) ([]byte, error) {
			data, err := sources.ReadLogin(path)
			n.mu.Lock()
			defer n.mu.Unlock()
			if err == nil {
				text := string(data)
				n.read.Login = &text
			}
			return data, err
		}
	}
	return noted
}

// sources returns sources with what a recording has in place of what the machine has.
func (r configRead) sources(from config.Sources) config.Sources {
	from.Getenv = func(name string) string { return r.Env[name] }
	from.ReadFile = func(path string) ([]byte, error) {
		text, ok := r.Files[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	from.ReadLogin = func(string) ([]byte, error) {
		if r.Login == nil {
			return nil, fs.ErrNotExist
		}
		return []byte(*r.Login), nil
	}
	return from
}

// keyVariable matches the names of variables whose values a recording must not have.
var keyVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)
})

func shownVariable(name, value string) string {
	if keyVariable().MatchString(name) {
		return redact.Mask
	}
	return value
}
