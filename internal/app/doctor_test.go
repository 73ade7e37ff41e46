package app

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/config"
	"acp-agent/sandbox"
)

// TestDoctor_Sandbox holds that doctor says what becomes of commands, not only what the
// machine lacks.
func TestDoctor_Sandbox(t *testing.T) {
	auto := config.Sandbox{Level: config.SandboxAuto}
	tests := []struct {
		name   string
		report sandbox.Report
		wanted config.Sandbox
		status string
		detail string
		hint   bool // may say what to do
	}{
		{"found", sandbox.Report{Kind: sandbox.Bubblewrap, Network: true}, auto, doctorOK, "bubblewrap, network off", false},
		{"network on", sandbox.Report{Kind: sandbox.Landlock, Network: true}, config.Sandbox{Level: config.SandboxAuto, Network: true}, doctorOK, "landlock, network on", false},
		{"none there", sandbox.Report{Kind: sandbox.None, Notes: []string{"One.", "Two."}}, auto, doctorWarn, "confines a command; One. Two.", true},
		{"switched off", sandbox.Report{Kind: sandbox.None}, config.Sandbox{Level: "none"}, doctorWarn, "none: ", false},
		{"no place", sandbox.Report{Kind: sandbox.None, NoPlace: true, Notes: []string{"It could not be tried out: no space left."}}, auto, doctorWarn, "no space left", true},
		{"required and not there", sandbox.Report{Kind: sandbox.None, Refused: "it is not there"}, config.Sandbox{Level: "bubblewrap"}, doctorFail, "commands are refused: it is not there", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := sandboxFinding(test.report, test.wanted)
			if got.Status != test.status || !strings.Contains(got.Detail, test.detail) || got.Hint != "" && !test.hint || test.report.NoPlace && strings.Contains(got.Hint, "bubblewrap") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestDoctor_CommandNetwork says whether hosts are told apart, also where the sandbox could do it and the system does not
// let it.
func TestDoctor_CommandNetwork(t *testing.T) {
	refused := errors.New("start the loopback device: operation not permitted")
	for _, tt := range []struct {
		report       sandbox.Report
		wanted       config.Sandbox
		err          error
		status, want string // an empty status is no line
	}{
		{sandbox.Report{Kind: sandbox.Bubblewrap, Network: true}, config.Sandbox{}, nil, doctorOK, "by host"},
		{sandbox.Report{Kind: sandbox.Bubblewrap, Network: true}, config.Sandbox{}, refused, doctorWarn, "all of it or none, because commands cannot share a network of their own here: start the loopback device: operation not permitted"},
		{sandbox.Report{Kind: sandbox.Landlock, Network: true}, config.Sandbox{}, refused, doctorOK, "all of it or none: landlock"},
		{sandbox.Report{Kind: sandbox.Bubblewrap, Network: true}, config.Sandbox{Network: true}, nil, "", ""},
		{sandbox.Report{Kind: sandbox.None}, config.Sandbox{}, nil, "", ""},
	} {
		f, ok := commandNetworkFinding(tt.report, tt.wanted, func() error { return tt.err })
		if ok != (tt.status != "") || f.Status != tt.status || !strings.Contains(f.Detail, tt.want) {
			t.Errorf("%+v, %+v: %+v, %v", tt.report, tt.wanted, f, ok)
		}
	}
}

// TestDoctor_Network says of each program what it has of the network, as the sandbox can keep it.
func TestDoctor_Network(t *testing.T) {
	outside := false
	cfg := config.Default()
	cfg.MCP.Servers = map[string]config.MCPServer{
		"asked": {Command: []string{"a"}, Network: config.MCPNetwork{Access: config.MCPNetworkAsk}}, "far": {URL: "https://far.example"},
		"free": {Command: []string{"a"}}, "listed": {Command: []string{"a"}, Network: config.MCPNetwork{Hosts: []string{"a.example", "b.example:80"}}},
		"none": {Command: []string{"a"}, Network: config.MCPNetwork{Hosts: []string{}}}, "out": {Command: []string{"a"}, Sandbox: &outside},
	}
	cfg.OfferedServers = map[string]config.MCPServer{"theirs": {Command: []string{"a"}}}
	cfg.External.ToolProviders = map[string]config.ToolProvider{"l": {Command: "l", Network: config.ProviderNetwork{MCPNetwork: config.MCPNetwork{Hosts: []string{"a.example"}}}}, "p": {Command: "p", Network: config.ProviderNetwork{MCPNetwork: config.MCPNetwork{Access: config.MCPNetworkOpen}}}, "q": {Command: "q"}, "r": {URL: "https://r.example"}}
	for _, tt := range []struct {
		report sandbox.Report
		want   string
	}{
		{sandbox.Report{Kind: sandbox.Bubblewrap, Network: true}, "open to MCP server free, provider p; " +
			"by host to MCP server asked (you are asked), MCP server listed (only a.example b.example:80), MCP server none (none), MCP server theirs (you are asked), provider l (only a.example); " +
			"closed to provider q; outside the sandbox MCP server out"},
		{sandbox.Report{Kind: sandbox.Landlock, Network: true}, "open to MCP server asked, MCP server free, MCP server theirs, provider p; " +
			"closed to MCP server listed, MCP server none, provider l, provider q; outside the sandbox MCP server out"},
	} {
		if f, ok := networkFinding(cfg, tt.report); !ok || f.Detail != tt.want {
			t.Errorf("under %s: %v, %q\nwant %q", tt.report.Kind, ok, f.Detail, tt.want)
		}
	}
	named := config.Default()
	named.OfferedServers = map[string]config.MCPServer{"\x1b[31ma\n\u202esandbox  ok" + strings.Repeat("x", 100): {Command: []string{"a"}}}
	if f, _ := networkFinding(named, sandbox.Report{}); strings.ContainsAny(f.Detail, "\x1b\n\u202e") || len(f.Detail) > 120 {
		t.Errorf("the name of a project's server is shown as %q", f.Detail)
	}
	if f, ok := networkFinding(config.Default(), sandbox.Report{}); ok {
		t.Errorf("without programs: %q", f.Detail)
	}
}

// TestDoctor_Directory holds that a directory is written to before it is called ok.
func TestDoctor_Directory(t *testing.T) {
	if f := directoryFinding("data", t.TempDir()); f.Status != doctorOK {
		t.Errorf("a directory that can be written: %+v", f)
	}
	if f := directoryFinding("data", filepath.Join(t.TempDir(), "later")); f.Status != doctorOK || !strings.Contains(f.Detail, "not there yet") {
		t.Errorf("a directory that can be made: %+v", f)
	}
	if runtime.GOOS != "linux" {
		return
	}
	const full = "/proc/self/task" // not even the superuser makes files there
	if f := directoryFinding("data", full); f.Status != doctorWarn || f.Hint == "" {
		t.Errorf("a directory that cannot be written: %+v", f)
	}
}

func TestHomeFinding(t *testing.T) {
	for _, tc := range []struct {
		name         string
		report       sandbox.HomeReport
		status, want string
	}{
		{"hidden", sandbox.HomeReport{Hidden: true, Shown: []string{"/h/go/bin", "/h/go/pkg"}}, doctorOK, "but for 2 paths"},
		{"seen", sandbox.HomeReport{}, doctorWarn, "visible to commands"},
		{"a credential", sandbox.HomeReport{Hidden: true, Credentials: []string{"/h/.gitconfig"}}, doctorOK, "hold a credential are hidden: /h/.gitconfig"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if f := homeFinding(tc.report); f.Status != tc.status || !strings.Contains(f.Detail, tc.want) {
				t.Errorf("got %+v", f)
			}
		})
	}
}
