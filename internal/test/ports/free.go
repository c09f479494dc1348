package ports

import (
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// claims holds the listeners of this process, because a listener that is garbage collected is closed.
var claims sync.Map

// first returns the lowest port that the system assigns to outgoing connections and to listeners without a port.
var first = sync.OnceValue(func() int {
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if words := strings.Fields(string(data)); err == nil && len(words) == 2 {
		if n, err := strconv.Atoi(words[0]); err == nil && n > lowest+1000 {
			return n
		}
	}
	return 32768 // the default of Linux
})

const lowest = 10000

// Free returns a loopback address with an unused port, for a server program that cannot choose a free port and report
// it. The port is below those that the system assigns. No other test binary gets the same port while this one runs:
// each port is claimed by a socket in the abstract namespace (unix(7)), which disappears with its process.
func Free(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(lowest + rand.IntN(min(first(), 32768)-lowest))
		claim, err := net.Listen("unix", "@braid-test-port-"+port)
		if err != nil {
			continue
		}
		claims.Store(port, claim)
		addr := net.JoinHostPort("127.0.0.1", port)
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatal("of a thousand ports none was free")
	return ""
}
