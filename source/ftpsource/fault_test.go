package ftpsource

import (
	"strings"
	"testing"
	"time"

	"braid/internal/test/ftptest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestFaults checks the errors for servers that refuse a command or send an invalid reply.
func TestFaults(t *testing.T) {
	long := "200 " + strings.Repeat("x", 9<<10) + "\r\n"
	many := "200-a\r\n" + strings.Repeat("b\r\n", 100) + "200 c\r\n"
	for _, tt := range []struct {
		command, reply string
		fault          source.Fault
		retry          bool
	}{
		{"greeting", "421 too many users\r\n", source.FaultRefused, true},
		{"greeting", "530 not you\r\n", source.FaultAuth, false},
		{"greeting", "HTTP/1.1 400 Bad Request\r\n\r\n", source.FaultProtocol, false},
		{"greeting", long, source.FaultLimit, false},
		{"greeting", many, source.FaultLimit, false},
		{"greeting", "220 a\r\n220 b\r\n", source.FaultProtocol, false},
		{"greeting", "120 wait\r\n530 not you\r\n", source.FaultAuth, false},
		{"greeting", "150 what\r\n", source.FaultProtocol, false},
		{"USER", "530 anonymous is off\r\n", source.FaultAuth, false},
		{"USER", "332 account\r\n", source.FaultAuth, false},
		{"PASS", "530 wrong\r\n", source.FaultAuth, false},
		{"PASS", "450 not now\r\n", source.FaultRefused, true},
		{"PASS", "421 too many users\r\n", source.FaultRefused, true},
		{"FEAT", "xyz\r\n", source.FaultProtocol, false},
		{"FEAT", "421 bye\r\n", source.FaultRefused, true},
		{"EPSV", "200 (|||4|)\r\n", source.FaultProtocol, false},
		{"TYPE", "504 no\r\n", source.FaultRefused, false},
		{"SIZE", "553 no\r\n", source.FaultRefused, false},
		{"SIZE", "450 busy\r\n", source.FaultRefused, true},
		{"SIZE", "213 -5\r\n", source.FaultProtocol, false},
		{"SIZE", "213 big\r\n", source.FaultProtocol, false},
		{"SIZE", long, source.FaultLimit, false},
		{"MDTM", many, source.FaultLimit, false},
		{"EPSV", "229 (|||0|)\r\n", source.FaultProtocol, false},
		{"EPSV", "229 nothing\r\n", source.FaultProtocol, false},
		{"EPSV", "425 no port\r\n", source.FaultNetwork, true},
		{"REST", "451 not now\r\n", source.FaultRefused, true},
		{"RETR", "550 gone\r\n", source.FaultRefused, false},
		{"RETR", "425 no connection\r\n", source.FaultNetwork, true},
		{"RETR", "226 already\r\n", source.FaultProtocol, false},
		{"RETR", "530 not for you\r\n", source.FaultAuth, false},
		{"150", "550 changed my mind\r\n", source.FaultRefused, false},
	} {
		t.Run(tt.command+" "+shown(tt.reply), func(t *testing.T) {
			s := newServer(t, ftptest.Reply(tt.command, tt.reply))
			k, err := fetch(t, newClient(t), s.URL, Options{}, part(5, 100))
			sourcetest.Fault(t, err, tt.fault, tt.retry)
			if len(k.Data) > 0 {
				t.Errorf("%d bytes came", len(k.Data))
			}
		})
	}
}

func shown(s string) string { return strings.TrimSpace(s[:min(len(s), 12)]) }

// TestAddressElsewhere_Rule58 checks that data connections go to the host of the control connection, whatever address
// PASV and EPSV return (rule 58).
func TestAddressElsewhere_Rule58(t *testing.T) {
	for name, options := range map[string][]ftptest.Option{
		"EPSV": {ftptest.PassiveHost("192,0,2,1")},
		"PASV": {ftptest.PassiveHost("192,0,2,1"), ftptest.Reply("EPSV", "502 no\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, options...)
			mustFetch(t, newClient(t), s.URL, Options{}, part(10, 5000))
			if want := map[string]int{"EPSV": 0, "PASV": 1}[name]; s.Asked("PASV") != want {
				t.Errorf("commands are %q", s.Commands())
			}
		})
	}
}

// TestPortUnreachable checks that PASV is used the next time if the port from EPSV cannot be reached.
func TestPortUnreachable(t *testing.T) {
	s := newServer(t, ftptest.Reply("EPSV", "229 (|||1|)\r\n"))
	src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
	sourcetest.Fault(t, src.Fetch(t.Context(), part(0, 9), &sourcetest.Sink{T: t}), source.FaultNetwork, true)
	k := &sourcetest.Sink{T: t}
	if err := src.Fetch(t.Context(), part(0, 9), k); err != nil {
		t.Fatal(err)
	}
	k.Has(file, part(0, 9))
}

// TestEarly226_Rule59 checks that a reply 226 after too few bytes is an error and that the bytes are kept (rule 59).
func TestEarly226_Rule59(t *testing.T) {
	s := newServer(t, ftptest.EndAfter(70_000))
	for _, r := range []struct{ from, to int64 }{{0, file.Size()}, {50_000, 100_000}} {
		k, err := fetch(t, newClient(t), s.URL, Options{}, part(r.from, r.to))
		sourcetest.Fault(t, err, source.FaultNetwork, true)
		k.Has(file, part(r.from, 70_000))
	}
}

func TestBrokenTransfers(t *testing.T) {
	for name, tt := range map[string]struct {
		options []ftptest.Option
		fault   source.Fault
		retry   bool
		got     int64
	}{
		"reset": {[]ftptest.Option{ftptest.ResetAfter(0)}, source.FaultNetwork, true, 0},
		"451 at once": {[]ftptest.Option{ftptest.EndAfter(0), ftptest.Reply("226", "451 disk\r\n")},
			source.FaultRefused, true, 0},
		"426 later": {[]ftptest.Option{ftptest.EndAfter(9000), ftptest.Reply("226", "426 gone\r\n")},
			source.FaultNetwork, true, 9000},
		"other size":  {[]ftptest.Option{ftptest.Size(99)}, source.FaultProtocol, false, 0},
		"larger SIZE": {[]ftptest.Option{ftptest.Size(file.Size() + 1)}, source.FaultNetwork, true, file.Size()},
		"421 at end": {[]ftptest.Option{ftptest.EndAfter(9000), ftptest.Reply("226", "421 bye\r\n")},
			source.FaultRefused, true, 9000},
		"endless line": {[]ftptest.Option{ftptest.EndAfter(9000), ftptest.Reply("226", strings.Repeat("x", 1<<20))},
			source.FaultLimit, false, 9000},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tt.options...)
			k, err := fetch(t, newClient(t), s.URL, Options{}, whole)
			sourcetest.Fault(t, err, tt.fault, tt.retry)
			k.Has(file, part(0, tt.got))
		})
	}
}

// TestLonger_Rule59 checks that a file that is longer than its SIZE is an error, with and without a digest (rule 59).
func TestLonger_Rule59(t *testing.T) {
	s := newServer(t, ftptest.Longer(1))
	for _, from := range []int64{0, 700_000, file.Size() - 1} {
		k, err := fetch(t, newClient(t), s.URL, Options{}, part(from, file.Size()))
		sourcetest.Fault(t, err, source.FaultProtocol, false)
		if k.Has(file, part(from, from+int64(len(k.Data)))); from+int64(len(k.Data)) >= file.Size() {
			t.Errorf("all bytes from %d on came", from)
		}
	}
	mustFetch(t, newClient(t), s.URL, Options{}, part(0, file.Size()-1)) // the extra byte is not requested
}

// TestReplyAfterTheEnd checks that the reply after the last byte does not matter, except that the connection is not
// used again.
func TestReplyAfterTheEnd(t *testing.T) {
	for _, reply := range []string{"451 could not close\r\n", "426 x\r\n", strings.Repeat("x", 9000), "226 a\r\n226 b\r\n"} {
		s := newServer(t, ftptest.Reply("226", reply))
		c := newClient(t)
		mustFetch(t, c, s.URL, Options{}, whole)
		mustFetch(t, c, s.URL, Options{}, whole)
		if s.Connections() != 2 {
			t.Errorf("%.10q: %d connections", reply, s.Connections())
		}
	}
}

// TestUnknownSize checks that a file is downloaded from a server without SIZE, and that it is complete only if the
// server replies 226.
func TestUnknownSize(t *testing.T) {
	no := ftptest.Reply("SIZE", "502 unknown\r\n")
	s := newServer(t, no)
	k := mustFetch(t, newClient(t), s.URL, Options{}, whole)
	if k.Heard.Size != -1 || k.Heard.End != -1 {
		t.Errorf("answer is %+v", k.Heard)
	}
	k = mustFetch(t, newClient(t), s.URL, Options{}, part(10, 500))
	if k.Heard.Size != -1 || k.Heard.Start != 10 || k.Heard.End != 500 || !k.Heard.Ranged {
		t.Errorf("answer is %+v", k.Heard)
	}
	s = newServer(t, no, ftptest.EndAfter(5000), ftptest.Reply("226", "426 gone\r\n"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}

// TestNoRest_S15 checks that a server without REST offers the whole file from 0 (S15), and that the Answer shows this
// before the first byte.
func TestNoRest_S15(t *testing.T) {
	s := newServer(t, ftptest.Reply("REST", "502 unknown\r\n"), ftptest.Reply("FEAT", "500 unknown\r\n"))
	c := newClient(t)
	k, err := fetch(t, c, s.URL, Options{}, part(5, 100))
	if err != nil {
		t.Fatal(err)
	}
	if a := k.Heard; a.Ranged || a.Start != 0 || a.End != file.Size() {
		t.Errorf("answer is %+v", a)
	}
	k.Has(file, whole)
	if k := mustFetch(t, c, s.URL, Options{}, part(0, 100)); !k.Heard.Ranged {
		t.Errorf("answer is %+v", k.Heard)
	}
}

// TestBehindTheEnd_Rule25 checks that SIZE shows that a range begins after the end of the file, because REST does not
// fail there (rule 25).
func TestBehindTheEnd_Rule25(t *testing.T) {
	s := newServer(t, ftptest.Size(1000))
	k, err := fetch(t, newClient(t), s.URL, Options{}, part(1000, 2000))
	sourcetest.Fault(t, err, source.FaultMismatch, false)
	if k.Heard == nil || k.Heard.Size != 1000 || s.Asked("RETR") != 0 {
		t.Errorf("answer %+v, commands %q", k.Heard, s.Commands())
	}
}

func TestSilence_Rule21(t *testing.T) {
	for _, command := range []string{"greeting", "SIZE", "RETR", "stall"} {
		t.Run(command, func(t *testing.T) {
			silent := ftptest.Reply(command, "")
			if command == "stall" {
				silent = ftptest.StallAfter(1000)
			}
			s := newServer(t, silent)
			c := newClient(t)
			c.Timeout = 50 * time.Millisecond
			_, err := fetch(t, c, s.URL, Options{}, whole)
			sourcetest.Fault(t, err, source.FaultNetwork, true)
		})
	}
}

func TestNobodyListens(t *testing.T) {
	s := newServer(t)
	s.Die()
	_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
	_, err = fetch(t, newClient(t), "ftp://nobody.invalid/x", Options{}, whole)
	if e := sourcetest.Fault(t, err, source.FaultNetwork, false); strings.Contains(e.Error(), "lookup") {
		t.Errorf("error %q speaks of our name server", e)
	}
	c := newClient(t)
	c.ConnectTimeout = 1
	_, err = fetch(t, c, newServer(t).URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}
