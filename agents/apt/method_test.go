package apt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var body = bytes.Repeat([]byte("braid and apt\n"), 20_000)

// demanded is demanding for body.
func demanded() string {
	return fmt.Sprintf("Expected-SHA256: %x\nExpected-Checksum-FileSize: %d\n", sha256.Sum256(body), len(body))
}

// A host is an HTTP server that records its requests.
type host struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // with Authorization
}

func newHost(t *testing.T, answer http.HandlerFunc) *host {
	h := &host{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked = append(h.asked, strings.TrimSpace(r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("Authorization")))
		h.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) requests() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.asked, ", ")
}

func serving(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(data))
	}
}

// A talk is a running Method and the pipes to it.
type talk struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *Reader
	ended chan error
}

// newTalk starts a Method, reads its capabilities and sends it settings.
func newTalk(t *testing.T, items ...string) *talk {
	t.Helper()
	hear, in := io.Pipe()
	out, say := io.Pipe()
	k := &talk{t: t, in: in, out: NewReader(out), ended: make(chan error, 1)}
	m := &Method{Name: "braid+http", In: hear, Out: say}
	go func() { k.ended <- m.Run(context.Background()); say.Close() }()
	t.Cleanup(func() { in.Close(); out.Close() })
	if first := k.next(); first.Code != 100 || first.Get("Send-Config") != "true" || first.Get("Send-URI-Encoded") != "true" {
		t.Fatalf("%v", first)
	}
	k.say("601 Configuration\nConfig-Item: APT::Sandbox::User=\nConfig-Item: Acquire::Send-URI-Encoded=1\n" +
		strings.Join(items, "\n") + "\n")
	return k
}

func (k *talk) say(text string) { io.WriteString(k.in, text+"\n") }

func (k *talk) next() *Message {
	k.t.Helper()
	m, err := k.out.Next()
	if err != nil {
		k.t.Fatal(err)
	}
	return m
}

// answer reads messages up to the one that ends a request. It also counts the messages by code.
func (k *talk) answer() (last *Message, codes map[int]int) {
	k.t.Helper()
	for codes = map[int]int{}; ; {
		m := k.next()
		if codes[m.Code]++; m.Code == 201 || m.Code >= 400 {
			return m, codes
		}
	}
}

// acquire requests a file. It returns the last message and the content of the file.
func (k *talk) acquire(uri, fields string) (*Message, string) {
	k.t.Helper()
	name := filepath.Join(k.t.TempDir(), "partial", "a file")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		k.t.Fatal(err)
	}
	k.say("600 URI Acquire\nURI: " + uri + "\nFilename: " + name + "\n" + fields)
	m, _ := k.answer()
	data, _ := os.ReadFile(name)
	if left, _ := filepath.Glob(name + ".*"); m.Code == 201 && len(left) > 0 {
		k.t.Errorf("left behind: %v", left)
	}
	return m, string(data)
}

func TestMethodRun(t *testing.T) {
	server := newHost(t, serving(body))
	k := newTalk(t)
	m, data := k.acquire("braid+"+server.URL+"/a%2bb", demanded())
	if m.Code != 201 || data != string(body) || m.Get("Size") != fmt.Sprint(len(body)) ||
		m.Get("SHA256-Hash") != fmt.Sprintf("%x", sha256.Sum256(body)) {
		t.Errorf("%v", m)
	}
	if m.Get("Last-Modified") != "Sun, 09 Sep 2001 01:46:40 GMT" || server.requests() != "GET /a%2bb" {
		t.Errorf("%v, %s", m, server.requests())
	}
	m, data = k.acquire(server.URL+"/InRelease", "Maximum-Size: 10000000\nLast-Modified: Sat, 08 Sep 2001 01:46:40 GMT\n")
	if m.Code != 201 || data != string(body) || m.Get("MD5Sum-Hash") == "" || m.Get("SHA512-Hash") == "" ||
		m.Get("IMS-Hit") != "" {
		t.Errorf("%v", m)
	}
	m, data = k.acquire(server.URL+"/InRelease", "Maximum-Size: 10000000\nLast-Modified: Mon, 10 Sep 2001 01:46:40 GMT\n")
	if m.Code != 201 || data != "" || m.Get("IMS-Hit") != "true" || m.Get("Filename") == "" {
		t.Errorf("%v", m)
	}
	k.in.Close()
	if err := <-k.ended; err != nil {
		t.Errorf("apt closed the pipe: %v", err)
	}
}

// TestMethodFails checks that each failure is a message 400 with an explanation, apt's FailReason, and
// Transient-Failure if another attempt may succeed.
func TestMethodFails(t *testing.T) {
	server := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			http.NotFound(w, r)
		case "/busy":
			http.Error(w, "", http.StatusServiceUnavailable)
		case "/login":
			http.Error(w, "", http.StatusUnauthorized)
		default:
			serving(body)(w, r)
		}
	})
	k := newTalk(t)
	for _, tt := range []struct{ uri, fields, message, reason, transient string }{
		{server.URL + "/gone", "", "404", "HttpError404", ""},
		{server.URL + "/gone", demanded(), "404", "HttpError404", ""},
		{server.URL + "/busy", "", "503", "HttpError503", "true"},
		{server.URL + "/login", "", "401", "HttpError401", ""},
		{server.URL + "/x", "Expected-SHA256: " + strings.Repeat("0", 64) + "\n", "sha-256 is", "HashSumMismatch", ""},
		{server.URL + "/x", fmt.Sprintf("Expected-SHA256: %s\nExpected-Checksum-FileSize: %d\n",
			strings.Repeat("0", 64), len(body)), "sha-256 is", "HashSumMismatch", ""},
		{server.URL + "/x", "Maximum-Size: 100\n", "no more than 100 are allowed", "MaximumSizeExceeded", ""},
		{server.URL + "/x", fmt.Sprintf("Expected-SHA256: %x\nExpected-Checksum-FileSize: 100\n", sha256.Sum256(body)),
			"no more than 100 are allowed", "MaximumSizeExceeded", ""},
		{"http://127.0.0.1:1/x", "", "connection refused", "ConnectionRefused", "true"},
		{"ftp://127.0.0.1/x", "", "not an http or https URL", "", ""},
		{"http://x.onion/x", "", "BlockDotOnion", "", ""},
		{"mirror+file:" + filepath.Join(t.TempDir(), "no-list") + "/./Packages", "", "no-list: no such file", "", ""},
		{"", "", "no URI", "", ""},
		{server.URL + "/x", "Expected-SHA256: 12\n", "the digest in Expected-SHA256 is not valid", "", ""},
		{server.URL + "/x", "Expected-SHA512: " + strings.Repeat("0", 32) + "\n",
			"the digest in Expected-SHA512 is not valid", "", ""},
		{server.URL + "/x", "Maximum-Size: -1\n", "Maximum-Size is not a number", "", ""},
		{server.URL + "/x", "Expected-Checksum-FileSize: 99999999999999999999\n",
			"Expected-Checksum-FileSize is not a number", "", ""},
	} {
		m, data := k.acquire(tt.uri, tt.fields)
		if m.Code != 400 || !strings.Contains(m.Get("Message"), tt.message) || m.Get("FailReason") != tt.reason ||
			m.Get("Transient-Failure") != tt.transient || data != "" {
			t.Errorf("%s %q: %v", tt.uri, tt.fields, m)
		}
	}
	k.say("600 URI Acquire\nURI: " + server.URL + "/x\nFilename: /dev/null\n")
	if m, _ := k.answer(); !strings.Contains(m.Get("Message"), "/dev/null is not a regular file") {
		t.Errorf("%v", m)
	}
	k.say("600 URI Acquire\nURI: " + server.URL + "/x\n")
	if m, _ := k.answer(); m.Code != 400 || !strings.Contains(m.Get("Message"), "no Filename") {
		t.Errorf("%v", m)
	}
}

// TestMethodConfigured checks that a file without a strong digest is downloaded only from the server in its URI or in
// the settings, never from mirrors in Link fields.
func TestMethodConfigured(t *testing.T) {
	mirror := newHost(t, serving(body))
	down := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<"+mirror.URL+"/linked>; rel=duplicate")
		http.Error(w, "", http.StatusServiceUnavailable)
	})
	linking := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<"+mirror.URL+"/linked>; rel=duplicate")
		serving(body)(w, r)
	})
	k := newTalk(t, "Config-Item: Acquire::braid::Mirrors::x::="+down.URL,
		"Config-Item: Acquire::braid::Mirrors::x::="+linking.URL, "Config-Item: Acquire::braid::Mirrors::x::="+mirror.URL)
	for _, fields := range []string{"", "Maximum-Size: 10000000\n",
		"Expected-MD5Sum: " + strings.Repeat("0", 32) + "\n", "Expected-SHA1: " + strings.Repeat("0", 40) + "\n",
		"Expected-Checksum-FileSize: 5\n"} {
		if m, _ := k.acquire(down.URL+"/InRelease", fields); m.Code != 400 {
			t.Errorf("%q: %v", fields, m)
		}
	}
	if m, data := k.acquire(linking.URL+"/InRelease", ""); m.Code != 201 || data != string(body) {
		t.Errorf("%v", m)
	}
	if got := mirror.requests(); got != "" {
		t.Errorf("a mirror was asked: %s", got)
	}
	if m, data := k.acquire(down.URL+"/a.deb", demanded()); m.Code != 201 || data != string(body) {
		t.Errorf("with a digest: %v", m)
	}
}

// TestMethodDate checks that a file from several mirrors gets the modification time that they send, and that apt gets
// no warnings.
func TestMethodDate(t *testing.T) {
	for _, data := range [][]byte{body, bytes.Repeat(body, 8)} {
		one, two := newHost(t, serving(data)), newHost(t, serving(data))
		k := newTalk(t, "Config-Item: Acquire::braid::Mirrors::x::="+one.URL,
			"Config-Item: Acquire::braid::Mirrors::x::="+two.URL)
		name := filepath.Join(t.TempDir(), "a file")
		k.say(fmt.Sprintf("600 URI Acquire\nURI: %s/x\nFilename: %s\nExpected-SHA256: "+
			"%x\nExpected-Checksum-FileSize: %d\n", one.URL, name, sha256.Sum256(data), len(data)))
		m, codes := k.answer()
		info, err := os.Stat(name)
		if m.Code != 201 || m.Get("Last-Modified") != "Sun, 09 Sep 2001 01:46:40 GMT" || codes[104]+codes[101] != 0 ||
			err != nil || !info.ModTime().Equal(time.Unix(1e9, 0)) {
			t.Errorf("%d bytes: %v, %v, %v, %v", len(data), m, codes, info.ModTime(), err)
		}
	}
}

// TestMethodPassword checks that a password in auth.conf is sent only to its server and not to mirrors.
func TestMethodPassword(t *testing.T) {
	mirror := newHost(t, serving(body))
	server := newHost(t, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "secret" {
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		serving(body)(w, r)
	})
	auth := filepath.Join(t.TempDir(), "auth.conf")
	if err := os.WriteFile(auth, []byte("machine "+server.URL+" login me password secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newTalk(t, "Config-Item: Dir::Etc::netrc="+auth, "Config-Item: Acquire::braid::Mirrors::="+server.URL,
		"Config-Item: Acquire::braid::Mirrors::="+mirror.URL)
	for _, fields := range []string{"", demanded()} {
		if m, _ := k.acquire(server.URL+"/x", fields); m.Code != 201 {
			t.Errorf("%v", m)
		}
	}
	if got := mirror.requests(); strings.Contains(got, "Basic") {
		t.Errorf("the mirror was told: %s", got)
	}
}

// TestMethodSettings checks that nothing is downloaded if a setting is invalid, or unknown and about trust.
func TestMethodSettings(t *testing.T) {
	server := newHost(t, serving(body))
	for _, tt := range []struct{ item, want string }{
		{"Acquire::https::CrlFile=/x", "crlfile is about trust"},
		{"Acquire::braid::Mirrors::=gopher://x",
			"Acquire::braid::Mirrors: \"gopher://x\" is not the URL of a mirror (http:// or https://), and no mirror+file:LIST"},
		{"Acquire::braid::Mirrors::x::=127.0.0.1:3142",
			"Acquire::braid::Mirrors::x: \"127.0.0.1:3142\" is not the URL of a mirror"},
		{"Acquire::braid::Mirrors::x::=ftp://me:secret@h/", "\"...@h/\" is not the URL of a mirror"},
		{"Acquire::http::Proxy=gopher://x", "proxy"},
	} {
		k := newTalk(t, "Config-Item: "+tt.item)
		if m, _ := k.acquire(server.URL+"/x", ""); m.Code != 400 || !strings.Contains(m.Get("Message"), tt.want) {
			t.Errorf("%s: %v", tt.item, m)
		}
	}
	if got := server.requests(); got != "" {
		t.Errorf("it was asked: %s", got)
	}
}

// TestMethodHostile checks that a message that violates the protocol ends Run, after apt was told why.
func TestMethodHostile(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"600 URI Acquire\nURI: http://127.0.0.1:1/x\nFilename: /x\n\n", "before it sent its configuration"},
		{"garbage\n\n", "status code"},
		{"600 URI", "unexpected EOF"},
	} {
		var out bytes.Buffer
		m := &Method{In: strings.NewReader(tt.text), Out: &out}
		if err := m.Run(context.Background()); err == nil ||
			!strings.Contains(out.String(), "401 General Failure\nMessage: braid: ") || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%q: %v\n%s", tt.text, err, out.String())
		}
	}
	k := newTalk(t)
	k.say("699 What\nIs: this\n")
	k.say("602 Authorization Credentials\n")
	if m, _ := k.acquire("ftp://x/", ""); m.Code != 400 {
		t.Errorf("after unknown messages: %v", m)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("enough"))
	wait, _ := io.Pipe()
	if err := (&Method{In: wait, Out: io.Discard}).Run(ctx); err == nil || err.Error() != "enough" {
		t.Errorf("%v", err)
	}
}
