package serve

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A refused client gets its answer after the start of its request, and blocks nothing until then.
func TestRefusedWhenItAsks_V9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r refusals
		here, client := net.Pipe()
		r.add(here)
		heard := make(chan string, 1)
		go func() {
			answer, _ := io.ReadAll(client)
			heard <- string(answer)
		}()
		synctest.Wait()
		select {
		case answer := <-heard:
			t.Fatalf("it has not asked, and hears %q", answer)
		default:
		}
		io.WriteString(client, "GET")
		if answer := <-heard; answer != busy {
			t.Errorf("it hears %q", answer)
		}
		synctest.Wait()
		if len(r.open) > 0 {
			t.Errorf("%d connections are kept", len(r.open))
		}
	})
}

// Refused clients cost little: silent ones are closed soon, their number is limited, and none remains when the server
// ends.
func TestRefusalsAreFew_V9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r refusals
		begun := time.Now()
		var clients []net.Conn
		for range maxRefusals + 1 {
			here, client := net.Pipe()
			r.add(here)
			clients = append(clients, client)
		}
		closed := func(i int) time.Duration {
			if n, err := clients[i].Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%d: %d bytes, %v", i, n, err)
			}
			return time.Since(begun)
		}
		if after := closed(maxRefusals); after > 0 {
			t.Errorf("one too many ends after %v", after)
		}
		if after := closed(0); after != askTime {
			t.Errorf("one that says nothing ends after %v", after)
		}
		synctest.Wait()
		here, client := net.Pipe()
		r.add(here)
		clients[0] = client
		r.end()
		if after := closed(0); after != askTime || len(r.open) > 0 {
			t.Errorf("at the end one is left for %v, and %d are open", after-askTime, len(r.open))
		}
		here, clients[0] = net.Pipe()
		r.add(here)
		if after := closed(0); after != askTime {
			t.Errorf("after the end one is open for %v", after-askTime)
		}
	})
}

// The complete answer arrives, even if the request is long.
func TestRefusalComesWhole_V9(t *testing.T) {
	w := limitedSite(t, 1)
	w.dial("GET /a HTTP/1.1\r\nHost: h\r\n") // an incomplete header section
	for range 20 {
		in := bufio.NewReader(w.dial("GET /a HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n"))
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 503 || string(body) != "too many connections\n" {
			t.Fatalf("%d %q, %v", resp.StatusCode, body, err)
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Fatalf("after the answer: %v", err)
		}
	}
}

// When the listener is closed, the connections of refused clients are closed.
func TestRefusalsEndWithTheListener_V9(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{}
	k := LimitListener(inner, web, 1, false).(*limited)
	k.extra.patience = time.Hour // otherwise it may be closed before it is seen here
	served := make(chan error)
	go func() { served <- web.Serve(k) }()
	w := &site{t: t, url: "http://" + inner.Addr().String()}
	w.dial("GET / HTTP/1.1\r\n")
	w.dial("")
	for deadline := time.Now().Add(time.Minute); ; { // until it was refused
		k.extra.mu.Lock()
		n := len(k.extra.open)
		k.extra.mu.Unlock()
		if n == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was refused")
		}
	}
	web.Close()
	if <-served; len(k.extra.open) > 0 {
		t.Errorf("%d connections are left", len(k.extra.open))
	}
}
