package egress_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	"acp-agent/internal/egress"
)

func TestParseLogin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, pair, user, fails string }{
		{name: "a host", text: "protocol=https\nhost=Example.com\n\n", pair: "example.com:443"},
		{name: "a port, a name, and attributes of other versions", text: "capability[]=authtype\nprotocol=http\nhost=10.0.0.1:3000\nusername=jo\nwwwauth[]=Basic realm=\"x\"\npath=a/b\n\n", pair: "10.0.0.1:3000", user: "jo"},
		{name: "IPv6", text: "protocol=https\nhost=[2001:db8::1]:8443\n\n", pair: "[2001:db8::1]:8443"},
		{name: "what follows the empty line", text: "protocol=https\nhost=a.example\n\nhost=b.example\n", pair: "a.example:443"},
		{name: "another protocol", text: "protocol=cert\nhost=a.example\n\n", fails: `not for "cert"`},
		{name: "no host", text: "protocol=https\npath=/etc/key\n\n", fails: `"" is not a host`},
		{name: "a user in the host", text: "protocol=https\nhost=a.example@b.example\n\n", fails: "is not a host"},
		{name: "a path in the host", text: "protocol=https\nhost=a.example/x\n\n", fails: "is not a host"},
		{name: "a name with a return", text: "protocol=https\nhost=a.example\nusername=a\rpassword=b\n\n", fails: "not the name of a user"},
		{name: "nothing", fails: `not for ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			login, err := egress.ParseLogin(strings.NewReader(tt.text))
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("%v, want an error with %q", err, tt.fails)
				}
				return
			}
			if err != nil || login.To.Pair() != tt.pair || login.User != tt.user {
				t.Errorf("%+v, %v", login, err)
			}
		})
	}
}

// What git is asked is what was judged: the same host, and not a line more.
func FuzzParseLogin(f *testing.F) {
	f.Add("protocol=https\nhost=example.com:8443\nusername=jo\n\n")
	f.Add("protocol=http\nhost=[::1]\n\n")
	f.Add("protocol=https\nhost=a\x00b\nusername=a=b\n")
	f.Fuzz(func(t *testing.T, text string) {
		login, err := egress.ParseLogin(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := egress.ParseLogin(strings.NewReader(login.Request()))
		if login.Password = ""; err != nil || again != login {
			t.Errorf("%+v is asked as %q, which is %+v, %v", login, login.Request(), again, err)
		}
	})
}

func TestProxy_Login(t *testing.T) {
	t.Parallel()
	give := func(_ context.Context, want egress.Login) (egress.Login, error) {
		if want.To.Host != "open.example" {
			return egress.Login{}, &egress.Refusal{Reason: "the user does not allow it"}
		}
		want.User, want.Password = "jo", "let me in"
		return want, nil
	}
	for _, tt := range []struct {
		name, host, credential string
		login                  func(context.Context, egress.Login) (egress.Login, error)
		out, errs              string
	}{
		{name: "given", host: "open.example", login: give, out: "username=jo\npassword=let me in\n"},
		{name: "refused", host: "shut.example", login: give, out: "quit=1\n", errs: "no login is given: the user does not allow it"},
		{name: "none at all", host: "open.example", out: "quit=1\n", errs: "this command gets no logins"},
		{name: "another command's proxy", host: "open.example", credential: "other", login: give, out: "quit=1\n", errs: "wants the credential"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			p := egress.Serve(l, egress.Options{
				Credential: "secret", Login: tt.login,
				Judge: func(context.Context, egress.Destination) error { return errors.New("nothing is connected") },
			})
			defer p.Close()
			credential := tt.credential
			if credential == "" {
				credential = "secret"
			}
			address := &url.URL{Scheme: "http", User: url.UserPassword(egress.User, credential), Host: l.Addr().String()}
			getenv := func(string) string { return address.String() }
			var out, errs strings.Builder
			code := egress.GitLogin([]string{"get"}, getenv, strings.NewReader("protocol=https\nhost="+tt.host+"\n\n"), &out, &errs)
			if code != 0 || out.String() != tt.out || !strings.Contains(errs.String(), tt.errs) {
				t.Errorf("%d, %q, %q", code, out.String(), errs.String())
			}
		})
	}
}
