package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/config"
)

// A login fills in what the environment and the user's file leave open, and a key never
// goes to a server that it was not given for.
func TestLoad_Login(t *testing.T) {
	const stored = `{"provider": "other", "base_url": "http://login/v1", "model": "l", "key": true}`
	type want struct {
		BaseURL, Name, Key string
		Origin             config.Origin
	}
	login := want{BaseURL: "http://login/v1", Name: "l", Origin: config.Origin{Server: config.FromLogin, Key: config.FromLogin}}
	for _, tt := range []struct {
		name, login, file string
		env               map[string]string
		want              want
	}{
		{name: "no login", want: want{BaseURL: config.DefaultBaseURL}},
		{name: "only a login", login: stored, want: login},
		{
			name: "only a login, without a key", login: `{"base_url": "http://login/v1/"}`,
			want: want{BaseURL: "http://login/v1", Origin: config.Origin{Server: config.FromLogin}},
		},
		{
			name: "a key of the environment is for the default server", login: stored, env: map[string]string{"OPENAI_API_KEY": "k"},
			want: want{BaseURL: config.DefaultBaseURL, Key: "k", Origin: config.Origin{Key: "OPENAI_API_KEY"}},
		},
		{
			name: "a key of the file is, too", login: stored, file: `{"model": {"api_key": "f"}}`,
			want: want{BaseURL: config.DefaultBaseURL, Key: "f", Origin: config.Origin{Key: "model.api_key"}},
		},
		{
			name: "and so are headers", login: stored, file: `{"model": {"headers": {"Authorization": "Bearer f"}}}`,
			want: want{BaseURL: config.DefaultBaseURL},
		},
		{
			name: "a variable that is not looked at says nothing", login: stored, file: `{"model": {"api_key_env": ""}}`,
			env: map[string]string{"OPENAI_API_KEY": "k"}, want: login,
		},
		{
			name: "another server of the environment", login: stored, env: map[string]string{"OPENAI_BASE_URL": "http://env/v1"},
			want: want{BaseURL: "http://env/v1", Origin: config.Origin{Server: "OPENAI_BASE_URL"}},
		},
		{
			name: "another server of the file", login: stored, file: `{"model": {"base_url": "http://file/v1", "name": "f"}}`,
			want: want{BaseURL: "http://file/v1", Name: "f", Origin: config.Origin{Server: "model.base_url"}},
		},
		{
			name: "the same server in the file, its key from the login", login: stored, file: `{"model": {"base_url": "http://login/v1/", "name": "f"}}`,
			want: want{BaseURL: "http://login/v1", Name: "f", Origin: config.Origin{Server: "model.base_url", Key: config.FromLogin}},
		},
		{
			name: "the same server, a key of the environment", login: stored,
			env:  map[string]string{"OPENAI_BASE_URL": "http://login/v1", "OPENAI_API_KEY": "k", "OPENAI_MODEL": "e"},
			want: want{BaseURL: "http://login/v1", Name: "e", Key: "k", Origin: config.Origin{Server: "OPENAI_BASE_URL", Key: "OPENAI_API_KEY"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := config.Load(loginSources(tt.login, tt.file, tt.env), "")
			if err != nil {
				t.Fatal(err)
			}
			got := want{cfg.Model.BaseURL, cfg.Model.Name, cfg.Model.APIKey.Reveal(), cfg.Model.Origin}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, damaged := range []string{"{", `{"base_url": "nowhere"}`} {
		if _, err := config.Load(loginSources(damaged, "", nil), ""); err == nil || !strings.Contains(err.Error(), "run acp-agent login again") {
			t.Errorf("%s: %v", damaged, err)
		}
	}
}

func loginSources(login, file string, env map[string]string) config.Sources {
	disk := map[string]string{userFile: file, "/data/login.json": login}
	for path, text := range disk {
		if text == "" {
			delete(disk, path)
		}
	}
	src := sources(env, disk)
	src.LoginFile = "/data/login.json"
	return src
}
