package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"braid/byterange"
	"braid/download"
	"braid/metalink"
	"braid/serve"
	"braid/source"
	"braid/verify"
)

// A memory is a source of the program's own.
type memory struct{ data []byte }

func (m memory) Traits() source.Traits { return source.Traits{Align: 1, InOrder: true} }

func (m memory) Fetch(_ context.Context, r byterange.Range, w source.Sink) error {
	size := int64(len(m.data))
	end := min(r.End, size)
	if err := w.Answer(source.Answer{Start: r.Start, End: end, Size: size, Ranged: true}); err != nil {
		return err
	}
	if _, err := w.WriteAt(m.data[r.Start:end], r.Start); err != nil && err != source.ErrEnough {
		return err
	}
	return nil
}

// A put is a target that the program implements: an object in a store, which takes it whole and by its digest. Until
// then, the bytes are in a file without a name.
type put struct {
	*os.File
	object string // its URL
}

func newPut(object string) (*put, error) {
	f, err := os.CreateTemp("", "put")
	if err != nil {
		return nil, err
	}
	return &put{f, object}, nil
}

// Commit implements download.Target.
func (p *put) Commit(ctx context.Context, proof verify.Proof) error {
	body := io.NewSectionReader(p.File, 0, proof.Size())
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.object, body)
	if err != nil {
		return err
	}
	req.ContentLength = proof.Size()
	for _, d := range proof.Digests() {
		if d.Algorithm() == verify.SHA256 {
			req.Header.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(d.Bytes())+":")
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("the store says %s", resp.Status)
	}
	return p.Discard()
}

// Discard implements download.Target.
func (p *put) Discard() error {
	p.Close()
	return os.Remove(p.Name())
}

// A store keeps objects whose digest is right.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(data)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	if r.Method != http.MethodPut || err != nil || r.Header.Get("Repr-Digest") != digest {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[r.URL.Path] = data
	w.WriteHeader(http.StatusCreated)
}

// listen serves h until stop is called.
func listen(h http.Handler) (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := serve.HTTPServer(h)
	go server.Serve(l)
	return "http://" + l.Addr().String(), func() { server.Close() }, nil
}

// transfer brings a file from the one to the other, and nothing to this disk that would stay.
func transfer(ctx context.Context) error {
	objects := &store{objects: map[string][]byte{}}
	base, stop, err := listen(objects)
	if err != nil {
		return err
	}
	defer stop()
	u, err := url.Parse(base + "/none") // where nothing is: the program has it
	if err != nil {
		return err
	}
	data := []byte(strings.Repeat("an object\n", 100_000))
	sum := sha256.Sum256(data)
	digest, err := verify.NewDigest(verify.SHA256, sum[:])
	if err != nil {
		return err
	}
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{{
		Name: "object", Size: int64(len(data)), Claims: []verify.Claim{{Digest: digest}}, Mirrors: []metalink.Mirror{{URL: u}},
	}}})
	if err != nil {
		return err
	}
	d, err := download.ReadDocument(bytes.NewReader(doc), "object.meta4")
	if err != nil {
		return err
	}
	target, err := newPut(base + "/object")
	if err != nil {
		return err
	}
	req, err := d.Request(d.Files.At(0), download.Request{
		Mirrors: []*url.URL{{Scheme: "memory", Host: "here", Path: "/object"}}, Target: target,
	})
	if err != nil {
		return err
	}
	open := func(*url.URL) source.Source { return memory{data} }
	client := download.Client{Open: map[string]func(*url.URL) source.Source{"memory": open}}
	result, err := client.Get(ctx, req)
	if err != nil {
		return err
	}
	_, gone := os.Stat(target.Name())
	stored := bytes.Equal(objects.objects["/object"], data)
	fmt.Println("target:", result.Size, "bytes, in the store:", stored, "- on disk:", gone == nil)
	return nil
}

// publish serves a folder, and downloads nothing.
func publish(ctx context.Context, dir string) error {
	s, err := serve.New(dir, serve.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	base, stop, err := listen(s)
	if err != nil {
		return err
	}
	defer stop()
	names, err := filepath.Glob(filepath.Join(dir, "antenna.*"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("nothing to publish: %v", err)
	}
	u, err := url.Parse(base + "/" + filepath.Base(names[0]))
	if err != nil {
		return err
	}
	return look(ctx, u)
}
