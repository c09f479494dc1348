package ports

import (
	"net"
	"testing"
)

// No port is given twice, and no other process can claim one that was given.
func TestFree(t *testing.T) {
	given := map[string]bool{}
	for range 200 {
		addr := Free(t)
		_, port, err := net.SplitHostPort(addr)
		if err != nil || given[addr] {
			t.Fatalf("%s is given twice, or is no address: %v", addr, err)
		}
		given[addr] = true
		if l, err := net.Listen("unix", "@braid-test-port-"+port); err == nil {
			l.Close()
			t.Fatalf("%s is not claimed", addr)
		}
	}
}
