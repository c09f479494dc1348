package ftpsource

import (
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"braid/internal/test/sourcetest"
	"braid/source"
)

// FuzzDialogue checks that Fetch ends without a panic and returns a *source.Error, whatever a server sends.
func FuzzDialogue(f *testing.F) {
	good := "220 hi\r\n331 pw\r\n230 in\r\n211-F\r\n REST STREAM\r\n211 E\r\n200 I\r\n213 1000\r\n213 20240501120000\r\n"
	f.Add([]byte(good+"229 (|||4711|)\r\n"), int64(5))
	f.Add([]byte(good+"500 what\r\n227 )(\r\n"), int64(0))
	f.Add([]byte("120 wait\r\n"+good), int64(2000))
	f.Add([]byte("220-\r\n220-\r\n"), int64(0))
	f.Fuzz(func(t *testing.T, said []byte, start int64) {
		if start < 0 {
			return
		}
		// Nothing else listens at this address, so the ports that the server names are closed.
		ln, err := net.Listen("tcp", "127.0.0.2:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			if conn, err := ln.Accept(); err == nil {
				conn.Write(said)
				conn.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, conn)
				conn.Close()
			}
		}()
		c := &Client{Timeout: 5 * time.Second}
		u := &url.URL{Scheme: "ftp", Host: ln.Addr().String(), Path: "/x"}
		err = c.Source(u, Options{}).Fetch(t.Context(), part(start, start+10), &sourcetest.Sink{T: t})
		c.CloseIdle()
		ln.Close() // ends Accept if Fetch has not connected
		<-done
		if e, ok := errors.AsType[*source.Error](err); !ok || e.Fault == 0 {
			t.Errorf("error is %v", err)
		}
	})
}
