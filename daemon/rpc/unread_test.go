package rpc

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/test/pipes"
)

// TestUnreadAnswer_Rule68 checks that a client that reads nothing of its answer is closed, by POST and WebSocket.
func TestUnreadAnswer_Rule68(t *testing.T) {
	const upgrade = "GET /jsonrpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	body := object("system.multicall", 1, slices.Repeat([]any{inner("system.listMethods")}, 50)) // 30 KB are the answer
	for socket, want := range map[bool]int{true: 1, false: 6} {
		synctest.Test(t, func(t *testing.T) {
			h, l, ended := New(newEngine(), Options{Root: "/srv/files"}), make(pipes.Listener), make(chan bool)
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, r)
				ended <- true
			})}
			go s.Serve(l)
			defer s.Close()
			c, theirs := net.Pipe()
			defer c.Close()
			l <- theirs
			if socket {
				fmt.Fprint(c, upgrade)
				if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
					t.Fatal(err)
				}
				frame := binary.BigEndian.AppendUint16([]byte{0x81, 0xfe}, uint16(len(body))) // one of text, with a mask of zeros
				c.Write(append(append(frame, 0, 0, 0, 0), body...))
			} else {
				fmt.Fprintf(c, "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			}
			began := time.Now()
			<-ended
			if got := time.Since(began); got != time.Duration(want)*h.patience {
				t.Errorf("WebSocket %v: closed after %v", socket, got)
			}
		})
	}
}
