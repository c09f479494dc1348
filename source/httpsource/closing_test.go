package httpsource

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"braid/internal/test/sourcetest"
)

// A slowClose is a connection whose Close blocks until the test allows it.
type slowClose struct {
	net.Conn
	may  chan struct{}
	once sync.Once
}

func (c *slowClose) Close() (err error) {
	c.once.Do(func() {
		<-c.may
		err = c.Conn.Close()
	})
	return err
}

// TestCutShortIsClosed_Rule38 checks that a Fetch that ends early returns only after its connection is closed (rule
// 38).
func TestCutShortIsClosed_Rule38(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		conn := &slowClose{Conn: ours, may: make(chan struct{})}
		go func() {
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\nthe beginning")
			}
			io.Copy(io.Discard, theirs)
		}()
		c := &Client{Dial: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
		defer c.CloseIdle()
		ended := make(chan error, 1)
		go func() { // the sink wants no more than has arrived already
			src := c.Source(sourcetest.URL(t, "http://mirror.example/a"), Options{})
			ended <- src.Fetch(t.Context(), whole, &sourcetest.Sink{T: t, Limit: 3})
		}()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("it ended with %v before its connection was closed", err)
			ended <- err
		default:
		}
		close(conn.may)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
