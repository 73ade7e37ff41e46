package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// guarded is a made-up internet in which the user allowed one name, on the public web alone. All
// its hosts are one live server of TCP, which counts who comes and keeps what they say.
type guarded struct {
	*world
	proxy string

	mu   sync.Mutex
	said [][]byte
	over chan struct{} // gets one value for each connection that ended
}

const allowedName = "allowed.example"

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{over: make(chan struct{}, 64)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go g.listen(conn)
		}
	}()
	g.world = &world{
		names: map[string][]string{
			allowedName: {"93.184.216.34"}, "other.example": {"93.184.216.35"}, "inside.example": {"127.0.0.1"},
			"localhost": {"127.0.0.1"}, "front.example": {"93.184.216.36"},
		},
		server: l.Addr().String(),
		verdict: func(to Destination) error {
			if to.Host == allowedName && to.Private == "" {
				return nil
			}
			return &Refusal{Reason: "no one allows it"}
		},
	}
	g.proxy = g.serve(t)
	return g
}

// listen answers what looks like a request, and keeps all that comes.
func (g *guarded) listen(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(hangs))
	var all bytes.Buffer
	b := make([]byte, 4<<10)
	for answered := false; ; {
		n, err := conn.Read(b)
		all.Write(b[:n])
		if !answered && bytes.Contains(all.Bytes(), []byte("\r\n\r\n")) {
			answered = true
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
		}
		if err != nil {
			break
		}
	}
	g.mu.Lock()
	g.said = append(g.said, all.Bytes())
	g.mu.Unlock()
	g.over <- struct{}{}
}

// came waits until all connections of the server have ended, and returns what each one said.
func (g *guarded) came(t *testing.T) []string {
	t.Helper()
	g.world.mu.Lock()
	reached := len(g.reached)
	g.world.mu.Unlock()
	for range reached {
		select {
		case <-g.over:
		case <-time.After(hangs):
			t.Fatal("a connection to the server stays open")
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var said []string
	for _, b := range g.said {
		said = append(said, string(b))
	}
	return said
}

// asked are the destinations that were judged, as the user would see them.
func (g *guarded) asked() []string {
	g.world.mu.Lock()
	defer g.world.mu.Unlock()
	var all []string
	for _, to := range g.judged {
		text := to.Pair()
		if to.Private != "" {
			text += " (" + to.Private + ")"
		}
		all = append(all, text)
	}
	return slices.Compact(all)
}

// hangs is how long a test waits for what has to come, however busy the machine is.
const hangs = time.Minute

// send writes to the proxy and returns what it answers: all until it ends the connection, or, once that
// is enough, until it is silent for a while.
func (g *guarded) send(t *testing.T, text string, enough func(answer string) bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", g.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text)
	var answer bytes.Buffer
	b := make([]byte, 4<<10)
	for until := time.Now().Add(hangs); ; {
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		n, err := conn.Read(b)
		answer.Write(b[:n])
		silent := errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && !silent || silent && (enough(answer.String()) || time.Now().After(until)) {
			return answer.String()
		}
	}
}

// begins is enough of an answer that begins so.
func begins(prefix string) func(string) bool {
	return func(answer string) bool { return strings.HasPrefix(answer, prefix) }
}

var authorization = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(User+":"+credential)) + "\r\n"

func connectTo(pair string) string {
	return "CONNECT " + pair + " HTTP/1.1\r\nHost: " + pair + "\r\n" + authorization + "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"
}

func get(address, more string) string {
	return "GET " + address + " HTTP/1.1\r\nHost: " + allowedName + "\r\n" + authorization + more + "\r\n"
}

// socksTo is a request in SOCKS 5: the kind of address, and its bytes.
func socksTo(command, kind byte, address string) string {
	return "\x05\x01\x02\x01\x09" + User + "\x06" + credential + string([]byte{5, command, 0, kind}) + address + "\x00\x50GET / HTTP/1.1\r\n\r\n"
}

func socksName(name string) string { return socksTo(1, 3, string([]byte{byte(len(name))})+name) }

// TestEscape_Proxy is what a hostile command writes to its proxy, where the user allowed one
// name. Each row says what was judged, and what the server of that name may have seen: who gets
// there is counted, whatever the proxy answers.
func TestEscape_Proxy(t *testing.T) {
	t.Parallel()
	const closed, bad = "HTTP/1.1 403", "HTTP/1.1 400"
	const refused, noCommand, noMethod = "\x05\x02\x01\x00\x05\x02", "\x05\x02\x01\x00\x05\x07", "\x05\xff"
	for _, tt := range []struct {
		name, send string
		answer     string // its beginning
		asked      []string
		came       int // connections to the allowed name
	}{
		{"CONNECT to the allowed name", connectTo("allowed.example:80"), "HTTP/1.1 200", []string{"allowed.example:80"}, 1},
		{"CONNECT in other letters, with a final dot", connectTo("ALLOWED.example.:80"), "HTTP/1.1 200", []string{"allowed.example:80"}, 1},
		{"CONNECT to an address", connectTo("127.0.0.1:80"), closed, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"CONNECT to an address with a final dot", connectTo("127.0.0.1.:80"), closed, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"CONNECT to another loopback address", connectTo("127.9.9.9:80"), closed, []string{"127.9.9.9:80 (loopback)"}, 0},
		{"CONNECT to a decimal address", connectTo("2130706433:80"), closed, nil, 0},
		{"CONNECT to an octal address", connectTo("0177.0.0.1:80"), closed, nil, 0},
		{"CONNECT to a hexadecimal address", connectTo("0x7f000001:80"), closed, nil, 0},
		{"CONNECT to a mixed address", connectTo("0x7f.0.0.01:80"), closed, nil, 0},
		{"CONNECT to a short address", connectTo("127.1:80"), closed, nil, 0},
		{"CONNECT to digits of another script", connectTo("１２７.０.０.１:80"), bad, nil, 0},
		{"SOCKS to digits of another script", socksName("１２７.０.０.１"), refused, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"SOCKS to circled digits and other dots", socksName("①②⑦。0。0。1"), refused, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"CONNECT to the unspecified address", connectTo("0.0.0.0:80"), closed, []string{"0.0.0.0:80 (this network)"}, 0},
		{"CONNECT to IPv6", connectTo("[::1]:80"), closed, []string{"[::1]:80 (loopback)"}, 0},
		{"CONNECT to a mapped address", connectTo("[::ffff:7f00:1]:80"), closed, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"CONNECT to a compatible address", connectTo("[::127.0.0.1]:80"), closed, []string{"[::7f00:1]:80 (an embedded IPv4 address)"}, 0},
		{"CONNECT to a translated address", connectTo("[64:ff9b::7f00:1]:80"), closed, []string{"[64:ff9b::7f00:1]:80 (loopback)"}, 0},
		{"CONNECT to a zone", connectTo("[fe80::1%25eth0]:80"), closed, nil, 0},
		{"CONNECT to a name with a port in it", connectTo("allowed.example:80:81"), bad, nil, 0},
		{"CONNECT with a user that looks like the name", connectTo("allowed.example@other.example:80"), bad, nil, 0},
		{"CONNECT with a path", connectTo("allowed.example:80/x"), bad, nil, 0},
		{"CONNECT with a line break", connectTo("allowed.example%0d%0a:80"), bad, nil, 0},
		{"CONNECT to the name of this machine", connectTo("localhost:80"), closed, []string{"localhost:80 (this machine)"}, 0},
		{"CONNECT to a name that leads to this machine", connectTo("inside.example:80"), closed, []string{"inside.example:80"}, 0},
		{"CONNECT to port 0", connectTo("allowed.example:0"), closed, nil, 0},
		{"CONNECT to port 65616, which is 80 in sixteen bits", connectTo("allowed.example:65616"), closed, nil, 0},

		{"another Host", "GET http://allowed.example/ HTTP/1.1\r\nHost: other.example\r\n" + authorization + "\r\n", "HTTP/1.1 200", []string{"allowed.example:80"}, 1},
		{"the allowed Host of another address", get("http://other.example/", ""), closed, []string{"other.example:80"}, 0},
		{"a user in the address", get("http://allowed.example@other.example/", ""), closed, []string{"other.example:80"}, 0},
		{"a backslash in the address", get(`http://other.example\@allowed.example/`, ""), bad, nil, 0},
		{"no authority", get("http:///allowed.example", ""), bad, nil, 0},
		{"CR LF in the address", get("http://allowed.example/ HTTP/1.1\r\nHost: other.example\r\n\r\nGET http://other.example/", ""), "HTTP/1.1 407", []string{"other.example:80"}, 0},
		{"CR alone in a header", get("http://allowed.example/", "X: y\rHost: other.example\r\n"), bad, nil, 0},
		{"LF in an escaped path", get("http://allowed.example/%0aHost:other.example", ""), "HTTP/1.1 200", []string{"allowed.example:80"}, 1},
		{"a header before which there is a blank", get("http://allowed.example/", "X: y\r\n Host: other.example\r\n"), "HTTP/1.1 200", []string{"allowed.example:80"}, 1},
		{"a blank before the colon", get("http://allowed.example/", "Transfer-Encoding : chunked\r\n"), bad, nil, 0},
		{"a length and chunks", "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n" + authorization + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n" + authorization + "\r\n", "HTTP/1.1 200", []string{"allowed.example:80", "other.example:80"}, 1},
		{"two lengths", "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n" + authorization + "Content-Length: 3\r\nContent-Length: 30\r\n\r\nabc", bad, nil, 0},
		{"chunks under another name", "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n" + authorization + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 501", nil, 0},
		{"a second request to another host", get("http://allowed.example/", "") + get("http://other.example/", ""), "HTTP/1.1 200", []string{"allowed.example:80", "other.example:80"}, 1},
		{"a second request without the credential", get("http://allowed.example/", "") + "GET http://allowed.example/2 HTTP/1.1\r\nHost: allowed.example\r\n\r\n", "HTTP/1.1 200", []string{"allowed.example:80"}, 1},
		{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 407", nil, 0},

		{"SOCKS to the allowed name", socksName("allowed.example"), "\x05\x02\x01\x00\x05\x00", []string{"allowed.example:80"}, 1},
		{"SOCKS to another name", socksName("other.example"), refused, []string{"other.example:80"}, 0},
		{"SOCKS to an address", socksTo(1, 1, "\x7f\x00\x00\x01"), refused, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"SOCKS to an address as a name", socksName("127.0.0.1"), refused, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"SOCKS to an IPv6 address as a name", socksName("::1"), refused, []string{"[::1]:80 (loopback)"}, 0},
		{"SOCKS to a mapped address", socksTo(1, 4, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01"), refused, []string{"127.0.0.1:80 (loopback)"}, 0},
		{"SOCKS to a hexadecimal address as a name", socksName("0x7f.1"), refused, nil, 0},
		{"SOCKS to a name with NUL", socksName("allowed.example\x00.other.example"), refused, nil, 0},
		{"SOCKS to a name with a line break", socksName("allowed.example\r\nHost: x"), refused, nil, 0},
		{"SOCKS to a name with a final dot", socksName("other.example."), refused, []string{"other.example:80"}, 0},
		{"SOCKS to a name of two final dots", socksName("allowed.example.."), refused, nil, 0},
		{"SOCKS to the port in a name", socksName("allowed.example:81"), refused, nil, 0},
		{"SOCKS UDP ASSOCIATE", socksTo(3, 1, "\x00\x00\x00\x00"), noCommand, nil, 0},
		{"SOCKS BIND", socksTo(2, 1, "\x7f\x00\x00\x01"), noCommand, nil, 0},
		{"SOCKS without the credential", "\x05\x01\x00" + "\x05\x01\x00\x03\x0fallowed.example\x00\x50", noMethod, nil, 0},
		{"TLS to the proxy", "\x16\x03\x01\x00\x05hello", "", nil, 0},
		{"SOCKS 4", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00", "", nil, 0},
		{"SOCKS 4a", "\x04\x01\x00\x50\x00\x00\x00\x01\x00allowed.example\x00", "", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			answer := g.send(t, tt.send, func(answer string) bool {
				return answer != "" && strings.HasPrefix(answer, tt.answer) && len(g.asked()) >= len(tt.asked)
			})
			if !strings.HasPrefix(answer, tt.answer) {
				t.Errorf("answered %q, want %q", answer, tt.answer)
			}
			if asked := g.asked(); !slices.Equal(asked, tt.asked) {
				t.Errorf("judged %q, want %q", asked, tt.asked)
			}
			said := g.came(t)
			if len(said) != tt.came {
				t.Errorf("%d connections, want %d: %q", len(said), tt.came, said)
			}
			for _, addr := range g.reached {
				if addr != netip.MustParseAddrPort("93.184.216.34:80") {
					t.Errorf("reached %v", addr)
				}
			}
			for _, text := range said {
				if strings.Contains(text, "other.example") && !strings.Contains(text, "%0aHost:other.example") && !strings.Contains(text, "X: y Host: other.example") ||
					strings.Contains(text, "Proxy-Authorization") {
					t.Errorf("the server was told %q", text)
				}
			}
		})
	}
}

// A name that leads to the public web first and to this machine later is looked up once for each
// connection, and judged by what that look-up said (N3).
func TestEscape_Rebinding(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	turn := 0
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Serve(l, Options{Credential: credential, Judge: g.judge, Dial: g.dial, LookUp: func(context.Context, string) ([]netip.Addr, error) {
		turn++
		if turn == 1 {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254")}, nil
	}})
	t.Cleanup(p.Close)
	g.proxy = l.Addr().String()
	answer := g.send(t, get("http://allowed.example/", ""), begins("HTTP/1.1 200"))
	if !strings.HasPrefix(answer, "HTTP/1.1 200") || turn != 1 {
		t.Errorf("%d look-ups, answered %q", turn, answer)
	}
	answer = g.send(t, get("http://allowed.example/", ""), begins("HTTP/1.1 403"))
	if !strings.HasPrefix(answer, "HTTP/1.1 403") || turn != 2 {
		t.Errorf("%d look-ups, answered %q", turn, answer)
	}
	if asked, want := g.asked(), []string{"allowed.example:80", "allowed.example:80 (loopback)"}; !slices.Equal(asked, want) {
		t.Errorf("judged %q, want %q", asked, want)
	}
	if said := g.came(t); len(said) != 1 {
		t.Errorf("%d connections: %q", len(said), said)
	}
}

// Of several addresses inside each one is judged before it is tried, so that the one that the
// user saw does not stand for the next.
func TestEscape_AddressAfterAddress(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.names["allowed.example"] = []string{"10.1.2.3", "127.0.0.1"}
	g.verdict = func(to Destination) error {
		if to.Private == "" || to.Addr.String() == "10.1.2.3" {
			return nil
		}
		return &Refusal{Reason: "no one allows it"}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tried := []string{}
	p := Serve(l, Options{Credential: credential, Judge: g.judge, LookUp: g.lookUp, Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		tried = append(tried, to.String())
		return nil, fmt.Errorf("nothing listens on %v", to)
	}})
	t.Cleanup(p.Close)
	g.proxy = l.Addr().String()
	if answer := g.send(t, get("http://allowed.example/", ""), begins("HTTP/1.1 403")); !strings.HasPrefix(answer, "HTTP/1.1 403") {
		t.Errorf("answered %q", answer)
	}
	if want := []string{"10.1.2.3:80"}; !slices.Equal(tried, want) {
		t.Errorf("tried %q, want %q", tried, want)
	}
}

// A name of this machine is not looked up: a server of names could say another address.
func TestEscape_LocalNamesAreNotLookedUp(t *testing.T) {
	t.Parallel()
	w := &world{names: map[string][]string{"x.localhost": {"10.1.2.3"}}, server: "127.0.0.1:1"}
	g := &guarded{world: w, proxy: w.serve(t)}
	g.send(t, get("http://x.localhost/", ""), begins("HTTP/1.1 "))
	if got := fmt.Sprint(w.looked, w.reached); got != "[] [127.0.0.1:80 [::1]:80]" {
		t.Errorf("looked up and reached %s", got)
	}
}

// TestEscape_Handshake is a TLS handshake through a tunnel to a name that the user allowed: only
// one that names this very server gets a byte to it.
func TestEscape_Handshake(t *testing.T) {
	t.Parallel()
	named := func(name string) []byte { return hello(t, &tls.Config{ServerName: name, InsecureSkipVerify: true}) }
	hidden := hello(t, &tls.Config{ServerName: "other.example", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: echConfig(t, "front.example")})
	behind := hello(t, &tls.Config{ServerName: "other.example", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: echConfig(t, allowedName)})
	for _, tt := range []struct {
		name   string
		writes [][]byte
		comes  bool
	}{
		{"the name", [][]byte{named(allowedName)}, true},
		{"the name, byte by byte", slices.Collect(slices.Chunk(named(allowedName), 1)), true},
		{"the name, in two records", [][]byte{inRecords(named(allowedName), 40)}, true},
		{"another name", [][]byte{named("other.example")}, false},
		{"another name, byte by byte", slices.Collect(slices.Chunk(named("other.example"), 1)), false},
		{"another name, in two records", [][]byte{inRecords(named("other.example"), 40)}, false},
		{"another name, in records of one byte", [][]byte{inRecords(named("other.example"), 1)}, false},
		{"no name", [][]byte{named("")}, false},
		{"a name beneath", [][]byte{named("x." + allowedName)}, false},
		{"the front of an encrypted name", [][]byte{hidden}, false},
		{"an encrypted name behind the allowed one, which no one can see", [][]byte{behind}, true},
		{"half a handshake", [][]byte{named(allowedName)[:60]}, false},
		{"a handshake too long to be read", [][]byte{{0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}, make([]byte, 1<<14)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			conn := connectThrough(t, g.proxy, allowedName+":443")
			for _, b := range tt.writes {
				if _, err := conn.Write(b); err != nil {
					break
				}
			}
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.ReadAll(conn)
			said := g.came(t)
			if len(said) != 1 || (len(said[0]) > 0) != tt.comes {
				t.Errorf("the server was told %d bytes, want some: %v", len(strings.Join(said, "")), tt.comes)
			}
		})
	}
}

// hello is the first message of a client of TLS.
func hello(t *testing.T, config *tls.Config) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		if config.ServerName == "" {
			config.ServerName = "127.0.0.1" // an address is not named
		}
		_ = tls.Client(theirs, config).HandshakeContext(t.Context())
		theirs.Close()
	}()
	defer ours.Close()
	head := make([]byte, 5)
	if _, err := io.ReadFull(ours, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(ours, body); err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

// inRecords is one record of a handshake written as several, of which the first ones have n bytes.
func inRecords(record []byte, n int) []byte {
	var out []byte
	parts := [][]byte{record[5:][:n], record[5:][n:]}
	if n == 1 {
		parts = slices.Collect(slices.Chunk(record[5:], 1))
	}
	for _, part := range parts {
		out = append(out, record[0], record[1], record[2])
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(part))), part...)
	}
	return out
}

// echConfig is the configuration of a server that hides names behind a public one.
func echConfig(t *testing.T, public string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sized := func(b []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...) }
	body := append([]byte{1, 0, 0x20}, sized(key.PublicKey().Bytes())...) // its number, X25519
	body = append(body, sized([]byte{0, 1, 0, 1})...)                     // HKDF with SHA-256, AES-128-GCM
	body = append(body, 32, byte(len(public)))
	body = append(body, public...)
	body = append(body, 0, 0)
	return sized(append([]byte{0xfe, 0x0d}, sized(body)...))
}

// A tunnel is for the host that was judged: what is written in it reaches no other, whatever it
// looks like.
func TestEscape_WithinATunnel(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	conn := connectThrough(t, g.proxy, allowedName+":80")
	fmt.Fprint(conn, connectTo("other.example:80"))
	_ = conn.(*net.TCPConn).CloseWrite()
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Fatal(err)
	}
	if asked, want := g.asked(), []string{"allowed.example:80"}; !slices.Equal(asked, want) {
		t.Errorf("judged %q, want %q", asked, want)
	}
	if said := g.came(t); len(said) != 1 || !strings.HasPrefix(said[0], "CONNECT other.example") {
		t.Errorf("the server was told %q", said)
	}
}
