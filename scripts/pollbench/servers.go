package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	recordsEach = 20 // of a feed
	changeEvery = 6  // polls: each hour, if they are ten minutes apart
	fileSize    = 4 << 10
)

// Servers is one handler at many addresses that records when it was asked for which feed.
type servers struct {
	bench
	port      int
	listeners []net.Listener
	server    http.Server
	serving   sync.WaitGroup
	enough    chan struct{} // closed after the wanted number of polls

	mu          sync.Mutex
	last        []time.Time // last poll of each feed
	polled      []int       // number of polls of each feed
	asked       int
	full, files int
	late        int
	latest      time.Duration
	first, end  time.Time
}

func newServers(b bench) *servers {
	s := &servers{bench: b, enough: make(chan struct{}), last: make([]time.Time, b.feeds), polled: make([]int, b.feeds), latest: -time.Hour}
	s.server.Handler = s
	return s
}

// listen serves at all addresses, on one port.
func (s *servers) listen(ctx context.Context) error {
	var lc net.ListenConfig
	for i := range s.hosts {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(address(i), strconv.Itoa(s.port)))
		if err != nil {
			s.close()
			return err
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		s.listeners = append(s.listeners, l)
		s.serving.Go(func() { s.server.Serve(l) })
	}
	return nil
}

func (s *servers) close() {
	for _, l := range s.listeners {
		l.Close()
	}
	s.server.Close()
	s.serving.Wait()
}

// url returns the URL of a file of a feed.
func (s *servers) url(feed int, name string) string {
	return fmt.Sprintf("http://%s/%d/%s", net.JoinHostPort(address(feed%s.hosts), strconv.Itoa(s.port)), feed, name)
}

// ServeHTTP serves /FEED/antenna.lirs and the files that it reports, /FEED/NUMBER.
func (s *servers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	feed, err := strconv.Atoi(number)
	if err != nil || feed < 0 || feed >= s.feeds {
		http.NotFound(w, r)
		return
	}
	if name != "antenna.lirs" {
		s.serveFile(w, r, s.version(feed))
		return
	}
	version := s.poll(feed)
	etag := fmt.Sprintf(`"%d"`, version)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.mu.Lock()
	s.full++
	s.mu.Unlock()
	w.Write([]byte(s.text(feed, version)))
}

// modified returns the modification time of a version of a feed and its files.
func (s *servers) modified(version int) time.Time {
	return s.first.Truncate(time.Second).Add(time.Duration(version-changeEvery) * time.Hour / changeEvery)
}

func (s *servers) text(feed, version int) string {
	var b strings.Builder
	at := s.modified(version).Unix()
	for i := range recordsEach {
		fmt.Fprintf(&b, "LIRS,%d,%d,0,%d,%s,A title,An author,http://agent.example/,\n", at, time.Now().Unix(), fileSize, s.url(feed, strconv.Itoa(i)))
	}
	return b.String()
}

// serveFile serves a file with a digest.
func (s *servers) serveFile(w http.ResponseWriter, r *http.Request, version int) {
	s.mu.Lock()
	s.files++
	s.mu.Unlock()
	data := bytes.Repeat([]byte{byte(version)}, fileSize)
	sum := sha256.Sum256(data)
	w.Header().Set("Digest", "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]))
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, version))
	http.ServeContent(w, r, "file", s.modified(version), bytes.NewReader(data))
}

// poll records a poll of a feed, and returns the current version of the feed. Feeds change one after the other.
func (s *servers) poll(feed int) (version int) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.asked == 1 {
		s.first = now
	}
	if last := s.last[feed]; !last.IsZero() {
		behind := now.Sub(last) - s.every - s.jitter()
		s.latest = max(s.latest, behind)
		if behind > s.jitter() {
			s.late++
		}
	}
	s.last[feed] = now
	s.polled[feed]++
	if s.asked == s.polls {
		s.end = now
		close(s.enough)
	}
	return (s.polled[feed] + feed%changeEvery) / changeEvery
}

func (s *servers) version(feed int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.polled[feed] + feed%changeEvery) / changeEvery
}

func (s *servers) counts() (polls, full, files, late int, latest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.full, s.files, s.late, s.latest
}

func (s *servers) took() time.Duration { return s.end.Sub(s.first) }
