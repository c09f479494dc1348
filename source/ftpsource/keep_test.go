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

// eventually waits for what another goroutine or process does soon.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// waiting lists the connections that wait for another range.
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

// Of several that wait, one is forgotten alone.
func TestForget(t *testing.T) {
	a := account{host: "h:21"}
	var c Client
	first, second := &control{account: a}, &control{account: a}
	for _, k := range []*control{first, second} {
		c.keep(k)
		k.timer.Stop() // nobody is there to say goodbye to
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

// A connection whose time is over is being closed, and is nobody's any more.
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

// A file that vanishes is asked for on a new connection once more; the old one does not stay beside it.
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

// A data connection ends with its fetch, however that ends.
func TestDataConnectionIsClosed(t *testing.T) {
	s := newServer(t, ftptest.StallAfter(1000))
	c := newClient(t)
	c.Timeout = 50 * time.Millisecond
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
	eventually(t, "the server still sends", func() bool { return s.Transfers() == 0 })
}

// Who says nothing of a transfer that was left is not asked again on that connection.
func TestSilenceAfterLeaving(t *testing.T) {
	s := newServer(t, ftptest.StallAfter(500_000), ftptest.Reply("426", ""))
	c := newClient(t)
	c.closing = 50 * time.Millisecond
	mustFetch(t, c, s.URL, Options{}, part(0, 1000))
	if n := len(waiting(c)); n > 0 {
		t.Errorf("%d connections wait", n)
	}
}

// What is opened after a fetch was given up is closed at once.
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

// Who needs no password is told none.
func TestNoPassword(t *testing.T) {
	s := newServer(t, ftptest.NoPassword())
	mustFetch(t, newClient(t), s.URL, Options{}, part(0, 9))
	if s.Asked("PASS") > 0 {
		t.Errorf("commands are %q", s.Commands())
	}
}

// What a server says is quoted only as far as people read.
func TestLongTextIsCut(t *testing.T) {
	s := newServer(t, ftptest.Reply("USER", "530 "+strings.Repeat("no ", 1000)+"\r\n"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	if e := sourcetest.Fault(t, err, source.FaultAuth, false); len(e.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(e.Error()))
	}
}

// A date is one of the reply that has one.
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

// Neither name nor password nor fragment is in what is told of the place.
func TestAnswerHasPlainURL(t *testing.T) {
	s := newServer(t, ftptest.User("bob", "x"))
	k := mustFetch(t, newClient(t), strings.Replace(s.URL, "//", "//bob:x@", 1)+"#there", Options{}, part(0, 9))
	if got := k.Heard.URL.String(); got != s.URL {
		t.Errorf("the answer is of %s", got)
	}
}

// PASV has one good reply.
func TestPASVRefused(t *testing.T) {
	s := newServer(t, ftptest.Reply("EPSV", "502 no\r\n"), ftptest.Reply("PASV", "200 (127,0,0,1,1,1)\r\n"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, part(0, 9))
	sourcetest.Fault(t, err, source.FaultProtocol, false)
	if !strings.Contains(err.Error(), "PASV: reply 200") {
		t.Errorf("error is %v", err)
	}
}
