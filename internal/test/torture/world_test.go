//go:build linux

package torture

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
)

// secret is in credentials and queries that nobody but their server may see (rules 27 and 62).
const secret = "s3cret"

const (
	// fileSize is small, so that many cases take little, and large enough for a second source.
	fileSize = 3 << 20
	// slow is the rate of a server that has to leave room for others: those are asked for what is a second ahead.
	slow = fileSize * 2 / 3
)

// content is the file.
var (
	content = mirrortest.Generate(fileSize, 1)
	body    = content.Bytes()
)

// A torment is a case: what servers do to a client.
type torment struct {
	rule string // its number in doc/rules.md
	does string // what the servers do
	set  func(*world)
	want want
}

// A world is the servers and folders of one run.
type world struct {
	t    testing.TB
	yard yard
	body []byte
	req  request
	env  []string

	web       []*mirrortest.Server
	ftp       []*ftptest.Server
	confidant *mirrortest.Server // may have the secret
	asked     []func() string    // what must have been asked, or must not; why not if so
	limits    limits
}

func newWorld(t testing.TB) *world {
	y, err := newYard(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		t: t, yard: y, body: body,
		limits: limits{memory: 100 << 20, disk: 2 * fileSize},
	}
}

// serve starts a server that has the file. It has to be asked, or the case shows nothing.
func (w *world) serve(options ...mirrortest.Option) *mirrortest.Server {
	s := mirrortest.New(w.t, content, options...)
	w.web = append(w.web, s)
	w.asked = append(w.asked, func() string {
		if s.Connections() == 0 {
			return "a server of the case was not asked: " + s.URL
		}
		return ""
	})
	return s
}

// canary starts a server that nobody may ask.
func (w *world) canary() *mirrortest.Server {
	s := mirrortest.New(w.t, content)
	w.web = append(w.web, s)
	w.asked = append(w.asked, func() string {
		if n := s.Connections(); n > 0 {
			return "a server that must be left alone was asked: " + s.URL
		}
		return ""
	})
	return s
}

// ask makes a server's file what is downloaded.
func (w *world) ask(s *mirrortest.Server) *mirrortest.Server {
	w.req.urls = append(w.req.urls, s.URL)
	return s
}

func (w *world) serveFTP(options ...ftptest.Option) *ftptest.Server {
	s := ftptest.New(w.t, content, options...)
	w.ftp = append(w.ftp, s)
	w.asked = append(w.asked, func() string {
		if s.Connections() == 0 {
			return "an FTP server of the case was not asked"
		}
		return ""
	})
	return s
}

// listen starts something that is no server: f has each connection, and closes it.
func (w *world) listen(f func(net.Conn)) (address string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(time.Minute))
				f(c)
			}()
		}
	}()
	return ln.Addr().String()
}

// write puts a file into the target folder.
func (w *world) write(name string, data []byte) string {
	path := filepath.Join(w.yard.work, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// beside puts a file at home: a document, keys.
func (w *world) beside(name string, data []byte) string {
	path := filepath.Join(w.yard.home, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// trust lets the client believe the certificate of a server.
func (w *world) trust(servers ...*mirrortest.Server) {
	var all []byte
	for _, s := range servers {
		all = append(all, s.CertPEM...)
	}
	w.req.ca = w.beside("ca.pem", all)
	w.env = append(w.env, "SSL_CERT_FILE="+w.req.ca)
}

// hex is the SHA-256 of the file, as on a command line.
func (w *world) hex() string {
	sum := sha256.Sum256(w.body)
	return hex.EncodeToString(sum[:])
}

// base64 is the SHA-256 of the file, as in a header field.
func (w *world) base64() string {
	sum := sha256.Sum256(w.body)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// run runs a client and observes it.
func (w *world) run(c client, program string, patience time.Duration) (o observation, ran bool) {
	args, ok := c.line(w.req)
	if !ok {
		return o, false
	}
	before, err := w.yard.look()
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := execute(w.yard, patience, w.env, program, args...)
	if err != nil {
		w.t.Fatalf("%s: %v", c.name, err)
	}
	after, err := w.yard.look()
	if err != nil {
		w.t.Fatal(err)
	}
	o = observation{
		code: e.code, signal: e.signal, overtime: e.overtime, errors: string(e.stderr),
		output: string(e.stdout) + string(e.stderr),
		files:  map[string]state{}, several: w.req.document != "" || len(w.req.command) > 0, memory: e.memory, disk: e.disk,
	}
	o.added, o.touched = compare(before, after, w.req)
	for _, name := range w.req.finals() {
		was, existed := before[filepath.Join("work", name)]
		if o.files[name], err = w.yard.state(name, w.body, was, existed); err != nil {
			w.t.Fatal(err)
		}
	}
	o.leaks, err = w.yard.secrets(secret, w.req)
	if err != nil {
		w.t.Fatal(err)
	}
	o.leaks = append(o.leaks, w.leaks(o.output)...)
	return o, true
}

// leaks finds the secret in what was printed, and in requests to others than the one who may have it.
func (w *world) leaks(output string) (found []string) {
	if strings.Contains(output, secret) {
		found = append(found, "a secret was printed")
	}
	for _, s := range w.web {
		if s == w.confidant {
			continue
		}
		for _, r := range s.Requests() {
			if tells(r.Path) || headerTells(r.Header) {
				found = append(found, "a secret was sent to another server")
				break
			}
		}
	}
	for _, s := range w.ftp {
		for _, command := range s.Commands() {
			if tells(command) {
				found = append(found, "a secret was sent to an FTP server")
				break
			}
		}
	}
	return found
}

func tells(s string) bool { return strings.Contains(s, secret) }

func headerTells(h http.Header) bool {
	for _, values := range h {
		for _, v := range values {
			word, coded, _ := strings.Cut(v, " ")
			plain, err := base64.StdEncoding.DecodeString(coded)
			if tells(v) || strings.EqualFold(word, "Basic") && err == nil && bytes.Contains(plain, []byte(secret)) {
				return true
			}
		}
	}
	return false
}

// What cases want.
var (
	isRight      = want{class: right}
	isUnverified = want{class: unverified}
)

// fails is a failure with a word about its reason.
func fails(code int, words string) want { return want{refused, []int{code}, "(?i)" + words} }

// says is another end with a word about its reason.
func (w want) says(words string) want {
	w.words = "(?i)" + words
	return w
}
