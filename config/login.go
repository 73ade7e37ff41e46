package config

import (
	"encoding/json"
	"errors"
)

// FromLogin is the origin of what `acp-agent login` stored.
const FromLogin = "acp-agent login"

// Login is what `acp-agent login` stored of a server. The key is not part of it: it lies
// where tokens do, under the address, so that it can go to no other server.
type Login struct {
	// Provider is the name under which the server was chosen.
	Provider string `json:"provider"`
	// BaseURL is the address in the form of Model.BaseURL.
	BaseURL string `json:"base_url"`
	// Model is the model of new sessions; empty means that none was chosen.
	Model string `json:"model"`
	// Key says that a key is stored for the address.
	Key bool `json:"key"`
}

// Origin says where the server of the model and its key were named: a variable, a field
// of the user's file, or FromLogin. Empty means the default server, or no key.
type Origin struct{ Server, Key string }

// Login returns what was stored by `acp-agent login`; nil when that is nothing.
func (s Sources) Login() (*Login, error) {
	if s.LoginFile == "" {
		return nil, nil
	}
	read := s
	if s.ReadLogin != nil {
		read.ReadFile = s.ReadLogin
	}
	data, found, err := read.read(s.LoginFile)
	if err == nil && !found {
		return nil, nil
	}
	login, problem := &Login{}, ""
	if failed, ok := errors.AsType[*Error](err); ok {
		problem = "cannot be used: " + cause(failed.Err).Error()
	} else if err := json.Unmarshal(data, login); err != nil {
		problem = "is damaged"
	} else {
		login.BaseURL, problem = BaseURL(login.BaseURL)
	}
	if problem != "" {
		return nil, &Error{File: s.LoginFile, Problem: problem + "; run acp-agent login again, or acp-agent logout"}
	}
	return login, nil
}

// loadLogin fills in what the environment and the user's file leave open. The address of
// the login counts only where nothing else names a server or holds a credential: a key
// for one server must never be sent to another.
func (s Sources) loadLogin(m *Model) error {
	login, err := s.Login()
	if err != nil || login == nil {
		return err
	}
	if m.Origin.Server == "" && m.Origin.Key == "" && len(m.Headers) == 0 {
		m.BaseURL, m.Origin.Server = login.BaseURL, FromLogin
	}
	if m.BaseURL != login.BaseURL {
		return nil
	}
	if m.Name == "" {
		m.Name = login.Model
	}
	if m.Origin.Key == "" && login.Key {
		m.Origin.Key = FromLogin
	}
	return nil
}
