package sandbox

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// TestEgress_Clients is what people use: each program finds the proxy by its environment, and
// the host is asked about once for each command. The short form has three of them.
func TestEgress_Clients(t *testing.T) {
	t.Parallel()
	address := registry(t)
	clients := testreq.Pick(3, []struct{ name, program, cmd, want string }{
		{"curl", "curl", "curl -fsS http://" + address + "/hello", "hello from outside"},
		{"pip", "pip", "python3 -m pip download -q --disable-pip-version-check --no-deps --trusted-host " + host(address) + " -i http://" + address + "/simple probe && ls", "probe-1.0-py3-none-any.whl"},
		{"git", "git", "git clone -q http://" + address + "/repo.git cloned && cat cloned/file", "in the repository"},
		{"npm view", "npm", "npm view --registry http://" + address + "/npm/ probe version", "1.0.0"},
		{"urllib", "python3", `python3 -c 'import urllib.request as r; print(r.urlopen("http://` + address + `/hello").read().decode())'`, "hello from outside"},
		{"npm", "npm", "npm install --no-audit --no-fund --registry http://" + address + "/npm/ probe && cat node_modules/probe/index.js", "module.exports = 'probe'"},
		{"go", "go", "mkdir -p m && cd m && printf 'module m\ngo 1.21\nrequire example.com/probe v1.0.0\n' > go.mod && GOFLAGS=-mod=mod GONOSUMDB=* GOPROXY=http://" + address + "/go go mod download -json example.com/probe", `"Version": "v1.0.0"`},
		{"push", "git http-backend", "git clone -q http://" + address + "/smart/repo.git pushed && cd pushed && echo more > more && git add more && git -c user.name=t -c user.email=t@example.com commit -qm two && git push -q && echo it is pushed", "it is pushed\n"},
		{"requests", "requests", `python3 -c 'import requests; print(requests.get("http://` + address + `/hello").text)'`, "hello from outside"},
		{"node", "node", `node -e 'fetch("http://` + address + `/hello").then(r => r.text()).then(console.log)'`, "hello from outside"},
	})
	commands := map[string]string{}
	for _, client := range clients {
		commands[client.name] = client.cmd
	}
	w := startConfined(t, "bubblewrap", "", commands, nil)
	for _, client := range clients {
		name := client.name
		if !usable(client.program) || client.program == "go" && strings.HasPrefix(address, loopback) {
			t.Logf("%s: not tried on this machine", name)
			continue
		}
		before := len(w.cards)
		text := w.run(t, name)
		if !strings.Contains(text, client.want) {
			t.Errorf("%s: %s", name, text)
		}
		asked := 0
		for _, card := range w.cards[before:] {
			if strings.Contains(card, "the command reaches for "+address) {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%s: asked %d times about the host: %q", name, asked, w.cards[before:])
		}
	}
}

func host(pair string) string {
	host, _, _ := net.SplitHostPort(pair)
	return host
}

// registry is a server of packages and a repository at an address of this machine that is not
// loopback, which some programs never ask a proxy for.
func registry(t *testing.T) (address string) {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(pattern string, body []byte) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	}
	serve("/hello", []byte("hello from outside"))
	mux.Handle("/repo.git/", http.StripPrefix("/repo.git", http.FileServer(http.Dir(repository(t)))))
	smart := repository(t)
	if out, err := exec.Command("git", "-C", smart, "config", "http.receivepack", "true").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mux.Handle("/smart/", &cgi.Handler{Path: httpBackend(), Root: "/smart", Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(smart), "GIT_HTTP_EXPORT_ALL=1"}})
	serve("/go/example.com/probe/@v/v1.0.0.info", []byte(`{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`))
	serve("/go/example.com/probe/@v/v1.0.0.mod", []byte("module example.com/probe\n"))
	serve("/go/example.com/probe/@v/v1.0.0.zip", zipped(t, map[string]string{"example.com/probe@v1.0.0/go.mod": "module example.com/probe\n"}))
	serve("/simple/probe/", []byte(`<a href="/files/probe-1.0-py3-none-any.whl">probe-1.0-py3-none-any.whl</a>`))
	serve("/files/probe-1.0-py3-none-any.whl", zipped(t, map[string]string{
		"probe.py": "", "probe-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n",
		"probe-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "probe-1.0.dist-info/RECORD": "",
	}))
	listener, err := net.Listen("tcp", net.JoinHostPort(ownAddress(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	address = listener.Addr().String()
	tarball := tarred(t, map[string]string{
		"package/package.json": `{"name":"probe","version":"1.0.0","main":"index.js"}`, "package/index.js": "module.exports = 'probe'\n",
	})
	sum := sha512.Sum512(tarball)
	serve("/npm/probe/-/probe-1.0.0.tgz", tarball)
	serve("/npm/probe", fmt.Appendf(nil, `{"name":"probe","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"probe","version":"1.0.0","main":"index.js",`+
		`"dist":{"tarball":"http://%s/npm/probe/-/probe-1.0.0.tgz","integrity":"sha512-%s"}}}}`, address, base64.StdEncoding.EncodeToString(sum[:])))
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: mux}}
	server.Start()
	t.Cleanup(server.Close)
	return address
}

// ownAddress is an address of this machine that is not loopback.
func ownAddress(t *testing.T) string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	return loopback // which all but Go ask the proxy for
}

const loopback = "127.0.0.1"

// usable reports whether a program is there; pip and requests are modules of Python, and of Node
// not every version heeds a proxy.
func usable(program string) bool {
	switch program {
	case "pip", "requests":
		return exec.Command("python3", "-c", "import "+program).Run() == nil
	case "git http-backend":
		_, err := os.Stat(httpBackend())
		return err == nil
	case "node":
		out, _ := exec.Command("node", "-p", `const [a, b] = process.versions.node.split("."); a > 23 || a == 22 && b >= 21`).Output()
		return strings.TrimSpace(string(out)) == "true"
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// httpBackend is the program by which git serves pushes.
func httpBackend() string {
	out, _ := exec.Command("git", "--exec-path").Output()
	return filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
}

// repository is a bare repository that any web server can serve.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `git init -q work && cd work && echo 'in the repository' > file && git add . &&
git -c user.name=t -c user.email=t@example.com commit -qm one && cd .. && git clone -q --bare work repo.git && git -C repo.git update-server-info`
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "repo.git")
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
