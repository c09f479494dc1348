//go:build realservers

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const mostOfDaemon = 150 << 20 // bytes of memory

// TestRealStrangers_Rule68 has clients without the token send to a daemon what costs it most: many calls whose answers
// they do not read, long requests that do not end, guesses at the token, and messages over WebSockets. Meanwhile each
// request of 30 kB with the token is answered, and the daemon needs less than 150 MiB of memory. In nightly runs there
// are 300 such clients.
func TestRealStrangers_Rule68(t *testing.T) {
	besideOthers(t)
	k := newKilledDaemon(t)
	k.start()
	at, err := url.Parse(k.url)
	if err != nil {
		t.Fatal(err)
	}
	strangers := 40
	if nightly() {
		strangers = 300
	}
	crowd := newCrowd(at.Host)
	defer crowd.leave()
	for i := range strangers {
		crowd.join(i)
	}
	crowd.begun.Wait()
	var slowest time.Duration
	for i := range 40 {
		uris := []string{k.server.URL + "/1000/" + strconv.Itoa(i)}
		for len(uris) < 300 {
			uris = append(uris, fmt.Sprintf("http://127.0.0.1:9/%080d", len(uris)))
		}
		start := time.Now()
		if err := k.call(new(string), "aria2.addUri", uris, map[string]string{"pause": "true"}); err != nil {
			t.Errorf("request %d with the token: %v", i, err)
		}
		slowest = max(slowest, time.Since(start))
	}
	peak := peakMemory(t, k.cmd.Process.Pid)
	t.Logf("the slowest of 40 answers took %v beside %d strangers, and the peak of memory is %d MiB",
		slowest.Round(time.Millisecond), strangers, peak>>20)
	if peak > mostOfDaemon {
		t.Errorf("the peak of memory is %d MiB", peak>>20)
	}
}

// peakMemory returns the peak of the resident memory of a process in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// A crowd is clients that have no token.
type crowd struct {
	host  string
	calls []byte // a request with as many calls as 4 MB hold
	begun sync.WaitGroup
	all   sync.WaitGroup
	gone  chan struct{}

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newCrowd(host string) *crowd {
	one := `{"methodName":"system.listMethods","params":[]},`
	body := `{"jsonrpc":"2.0","id":1,"method":"system.multicall","params":[[` + strings.Repeat(one, (4<<20-200)/len(one)-1) +
		strings.TrimSuffix(one, ",") + `]]}`
	return &crowd{host: host, calls: []byte(post(host, len(body)) + body), gone: make(chan struct{}), open: map[net.Conn]bool{}}
}

// post returns the header section of a request with a body of n bytes.
func post(host string, n int) string {
	return fmt.Sprintf("POST /jsonrpc HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: "+
		"%d\r\n\r\n", host, n)
}

// join adds a client. Its first connection has begun when begun is done.
func (c *crowd) join(i int) {
	did := c.once()
	c.begun.Add(1)
	c.all.Go(func() {
		defer did()
		for {
			select {
			case <-c.gone:
				return
			default:
			}
			if conn, err := net.Dial("tcp", c.host); err == nil {
				c.note(conn, true)
				c.behave(i, conn, did)
				conn.Close()
				c.note(conn, false)
			}
			did()
		}
	})
}

// once returns a function that reports once that a client has begun.
func (c *crowd) once() func() { return sync.OnceFunc(c.begun.Done) }

// note records a connection that is open. It closes it if the crowd is leaving.
func (c *crowd) note(conn net.Conn, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		conn.Close()
	default:
	}
	if delete(c.open, conn); open {
		c.open[conn] = true
	}
}

// behave uses one connection until the daemon closes it or the crowd leaves.
func (c *crowd) behave(i int, conn net.Conn, did func()) {
	switch i % 4 {
	case 0: // it reads no answer
		for {
			if _, err := conn.Write(c.calls); err != nil {
				return
			}
			did()
		}
	case 1: // its request does not end
		conn.Write([]byte(post(c.host, 4<<20) + `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 100_000)))
		did()
		io.Copy(io.Discard, conn)
	case 2: // it guesses
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion","params":["token:%016x"]}`, rand.Uint64())
		conn.Write([]byte(post(c.host, len(body)) + body))
		did()
		conn.Read(make([]byte, 4096))
	case 3:
		fmt.Fprintf(conn, "GET /jsonrpc HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", c.host)
		conn.Read(make([]byte, 4096))
		did()
		message := []byte(`{"jsonrpc":"2.0","id":1,"method":"system.listMethods"}`)
		frame := append([]byte{0x81, 0x80 | byte(len(message)), 0, 0, 0, 0}, message...) // a text, masked with zeros
		for frames := bytes.Repeat(frame, 1000); ; {
			if _, err := conn.Write(frames); err != nil {
				return
			}
		}
	}
}

// leave closes all connections.
func (c *crowd) leave() {
	c.mu.Lock()
	close(c.gone)
	for conn := range c.open {
		conn.Close()
	}
	c.mu.Unlock()
	c.all.Wait()
}
