package ftpsource

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"braid/internal/test/ftptest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// eventually waits until ok returns true, for up to a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// waiting returns the idle connections.
func waiting(c *Client) (all []*control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, controls := range c.idle {
		all = append(all, controls...)
	}
	return all
}

func TestConnectionsDoNotWaitForEver(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, part(0, 9))
	waiting(c)[0].timer.Reset(0)
	eventually(t, "the server was not told QUIT", func() bool { return s.Asked("QUIT") == 1 })
	if n := len(waiting(c)); n > 0 {
		t.Errorf("%d connections wait", n)
	}
}

// TestForget checks that forget removes one of several idle connections.
func TestForget(t *testing.T) {
	a := account{host: "h:21"}
	var c Client
	first, second := &control{account: a}, &control{account: a}
	for _, k := range []*control{first, second} {
		c.keep(k)
		k.timer.Stop() // there is no connection to close
	}
	if c.forget(first); len(waiting(&c)) != 1 || waiting(&c)[0] != second {
		t.Error("the other one does not wait any more")
	}
	if c.forget(second); len(c.idle) != 0 {
		t.Errorf("%d accounts without connections", len(c.idle))
	}
}

func TestCloseIdle(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, part(0, 9))
	c.CloseIdle()
	eventually(t, "the server was not told QUIT", func() bool { return s.Asked("QUIT") == 1 })
}

// TestConnectionThatIsBeingClosed checks that take does not return a connection whose timer has fired.
func TestConnectionThatIsBeingClosed(t *testing.T) {
	a := account{host: "h:21"}
	fired := make(chan struct{})
	timer := time.AfterFunc(0, func() { close(fired) })
	<-fired
	c := &Client{idle: map[account][]*control{a: {{account: a, timer: timer}}}}
	if k := c.take(a); k != nil {
		t.Error("it was lent once more")
	}
}

// TestVanishedFileLeavesOneConnection checks that a missing file is requested again on a new connection, and that the
// old one is closed.
func TestVanishedFileLeavesOneConnection(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, part(0, 9))
	s.Set(ftptest.Name("another"))
	_, err := fetch(t, c, s.URL, Options{}, part(0, 9))
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if n := len(waiting(c)); n != 1 || s.Connections() != 2 {
		t.Errorf("%d of %d connections wait", n, s.Connections())
	}
}

// TestDataConnectionIsClosed checks that a data connection is closed when its fetch fails.
func TestDataConnectionIsClosed(t *testing.T) {
	s := newServer(t, ftptest.StallAfter(1000))
	c := newClient(t)
	c.Timeout = 50 * time.Millisecond
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
	eventually(t, "the server still sends", func() bool { return s.Transfers() == 0 })
}

// TestSilenceAfterLeaving checks that a connection is not used again if the server does not reply to the end of a
// transfer.
func TestSilenceAfterLeaving(t *testing.T) {
	s := newServer(t, ftptest.StallAfter(500_000), ftptest.Reply("426", ""))
	c := newClient(t)
	c.CloseTimeout = 50 * time.Millisecond
	mustFetch(t, c, s.URL, Options{}, part(0, 1000))
	if n := len(waiting(c)); n > 0 {
		t.Errorf("%d connections wait", n)
	}
}

// TestLeash checks that a connection that is opened after its fetch was cancelled is closed at once.
func TestLeash(t *testing.T) {
	l := &leash{}
	ours, theirs := net.Pipe()
	defer theirs.Close()
	l.pull()
	l.hold(ours)
	if _, err := theirs.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is open: %v", err)
	}
}

// TestNoPassword checks that no password is sent to a server that needs none.
func TestNoPassword(t *testing.T) {
	s := newServer(t, ftptest.NoPassword())
	mustFetch(t, newClient(t), s.URL, Options{}, part(0, 9))
	if s.Asked("PASS") > 0 {
		t.Errorf("commands are %q", s.Commands())
	}
}

// TestLongTextIsCut checks that an error quotes only the beginning of a long reply.
func TestLongTextIsCut(t *testing.T) {
	s := newServer(t, ftptest.Reply("USER", "530 "+strings.Repeat("no ", 1000)+"\r\n"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	if e := sourcetest.Fault(t, err, source.FaultAuth, false); len(e.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(e.Error()))
	}
}

// TestDates checks that only a valid reply to MDTM gives a modification time.
func TestDates(t *testing.T) {
	for reply, known := range map[string]bool{
		"213 20240501120000": true, "213 20240501120000.123": true, "213 2024": false, "213 19124050112000": false,
		"550 20240501120000 is long ago": false, "213": false,
	} {
		s := newServer(t, ftptest.Reply("MDTM", reply+"\r\n"))
		if k := mustFetch(t, newClient(t), s.URL, Options{}, part(0, 9)); k.Heard.LastModified.IsZero() == known {
			t.Errorf("%q: %v", reply, k.Heard.LastModified)
		}
	}
}

// TestAnswerHasPlainURL checks that the URL in the Answer has no user, password or fragment.
func TestAnswerHasPlainURL(t *testing.T) {
	s := newServer(t, ftptest.User("bob", "x"))
	k := mustFetch(t, newClient(t), strings.Replace(s.URL, "//", "//bob:x@", 1)+"#there", Options{}, part(0, 9))
	if got := k.Heard.URL.String(); got != s.URL {
		t.Errorf("the answer is of %s", got)
	}
}

// TestPASVRefused checks that only reply 227 to PASV is accepted.
func TestPASVRefused(t *testing.T) {
	s := newServer(t, ftptest.Reply("EPSV", "502 no\r\n"), ftptest.Reply("PASV", "200 (127,0,0,1,1,1)\r\n"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, part(0, 9))
	sourcetest.Fault(t, err, source.FaultProtocol, false)
	if !strings.Contains(err.Error(), "PASV: reply 200") {
		t.Errorf("error is %v", err)
	}
}
