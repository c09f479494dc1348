// Package s3test runs an object store for tests: versitygw, a process that stores objects as files in a folder. A proxy
// in front of it can do what the store itself never does: answer 503, lose an answer, ignore conditions, or stop
// responding.
//
// It must be imported only by tests.
package s3test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"

	"braid/internal/test/gotool"
	"braid/internal/test/ports"
)

// The credentials of the store, and its bucket.
const (
	Key    = "testkey"
	Secret = "testsecret-0123456789"
	Bucket = "bucket"
)

// Store is an object store that runs until the end of the test.
type Store struct {
	Endpoint string // of the proxy
	addr     string // of versitygw
	t        testing.TB
	dir      string
	mu       sync.Mutex
	fault    Fault // nil for none
	requests []string
}

// Fault answers a request, by itself or by calling store.
type Fault func(w http.ResponseWriter, r *http.Request, store http.Handler)

// program returns the path of versitygw, in the version that scripts/go.mod pins.
var program = sync.OnceValues(func() (string, error) { return gotool.Path("versitygw") })

// New starts a store.
func New(t testing.TB) *Store {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, Bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	s.addr = ports.Free(t)
	s.run(path, s.addr)
	to := &url.URL{Scheme: "http", Host: s.addr}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }, // the host is signed
		Transport: &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, proxy) })}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	s.Endpoint = "http://" + l.Addr().String()
	return s
}

// run starts versitygw at an address, and returns when it listens there. It runs until the end of the test.
func (s *Store) run(path, addr string) {
	s.t.Helper()
	cmd := exec.Command(path, "--quiet", "--keep-alive", "--port", addr, "--access", Key, "--secret", Secret, "posix", s.dir)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	cmd.Stderr = &bytes.Buffer{}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	s.t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-ended:
			s.t.Fatalf("versitygw ended: %v\n%s", cmd.ProcessState, cmd.Stderr)
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.t.Fatal("versitygw does not listen")
}

func (s *Store) serve(w http.ResponseWriter, r *http.Request, proxy http.Handler) {
	s.mu.Lock()
	fault := s.fault
	s.requests = append(s.requests, Kind(r)+" "+strings.TrimPrefix(r.URL.Path, "/"+Bucket+"/"))
	s.mu.Unlock()
	if fault == nil {
		proxy.ServeHTTP(w, r)
		return
	}
	fault(w, r, proxy)
}

// Faults makes f answer all later requests. If f is nil, the store answers them.
func (s *Store) Faults(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Requests returns the kind and key of each request.
func (s *Store) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// Count returns the number of requests of a kind about a key.
func (s *Store) Count(kind, key string) (n int) {
	for _, r := range s.Requests() {
		if r == kind+" "+key {
			n++
		}
	}
	return n
}

// Kind returns the kind of a request: "put", "head", "get", "delete", "open", "part", "complete", "abort", "parts" or
// "uploads".
func Kind(r *http.Request) string {
	q := r.URL.Query()
	switch {
	case q.Has("uploads") && r.Method == http.MethodPost:
		return "open"
	case q.Has("uploads"):
		return "uploads"
	case q.Has("partNumber"):
		return "part"
	case q.Has("uploadId") && r.Method == http.MethodPost:
		return "complete"
	case q.Has("uploadId") && r.Method == http.MethodDelete:
		return "abort"
	case q.Has("uploadId"):
		return "parts"
	}
	return strings.ToLower(r.Method)
}

// Refuse answers with an error in the format of the store.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code><Message>on request</Message></Error>`)
}

// Sign signs a request again after it was modified.
func Sign(r *http.Request) {
	r.Header.Del("Authorization")
	signed := signer.SignV4(*r, Key, Secret, "", "us-east-1")
	r.Header = signed.Header
}

// Env returns the environment variables for clients of the store.
func (s *Store) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + s.Endpoint, "AWS_ACCESS_KEY_ID=" + Key, "AWS_SECRET_ACCESS_KEY=" + Secret, "AWS_REGION=us-east-1",
		"AWS_CONFIG_FILE=/nonexistent", "AWS_SHARED_CREDENTIALS_FILE=/nonexistent",
	}
}

// Getenv returns a variable of Env.
func (s *Store) Getenv(name string) string {
	for _, v := range s.Env() {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Object returns the content of an object from the store's folder, or nil if it does not exist.
func (s *Store) Object(key string) []byte {
	data, err := os.ReadFile(filepath.Join(s.dir, Bucket, filepath.FromSlash(key)))
	if err != nil {
		return nil
	}
	return data
}

// client returns a client that bypasses the proxy, as another program would.
func (s *Store) client() *minio.Core {
	s.t.Helper()
	c, err := minio.NewCore(s.addr, &minio.Options{Creds: credentials.NewStaticV4(Key, Secret, ""), Region: "us-east-1"})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Put stores an object, bypassing the proxy.
func (s *Store) Put(key string, data []byte) {
	s.t.Helper()
	if _, err := s.client().PutObject(context.Background(), Bucket, key, bytes.NewReader(data), int64(len(data)), "", "", minio.PutObjectOptions{}); err != nil {
		s.t.Error(err)
	}
}

// Begin begins an upload with one part, bypassing the proxy.
func (s *Store) Begin(key string, part []byte) {
	s.t.Helper()
	c, ctx := s.client(), context.Background()
	id, err := c.NewMultipartUpload(ctx, Bucket, key, minio.PutObjectOptions{})
	if err == nil {
		_, err = c.PutObjectPart(ctx, Bucket, key, id, 1, bytes.NewReader(part), int64(len(part)), minio.PutObjectPartOptions{})
	}
	if err != nil {
		s.t.Error(err)
	}
}

// Date sets the modification time of an object.
func (s *Store) Date(key string, t time.Time) {
	s.t.Helper()
	if err := os.Chtimes(filepath.Join(s.dir, Bucket, filepath.FromSlash(key)), t, t); err != nil {
		s.t.Error(err)
	}
}

// Remove removes an object from the store's folder.
func (s *Store) Remove(key string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, Bucket, filepath.FromSlash(key))); err != nil {
		s.t.Error(err)
	}
}

// Keys returns the keys of all objects.
func (s *Store) Keys() (keys []string) {
	root := filepath.Join(s.dir, Bucket)
	filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".sgw") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			key, _ := filepath.Rel(root, path)
			keys = append(keys, filepath.ToSlash(key))
		}
		return nil
	})
	return keys
}
