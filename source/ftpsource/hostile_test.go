package ftpsource

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestEndless_Rule58 checks that endless replies to any command are refused early (rule 58).
func TestEndless_Rule58(t *testing.T) {
	for name, option := range map[string]ftptest.Option{
		"delays":       ftptest.Endless("greeting", "120 wait\r\n"),
		"greeting":     ftptest.Endless("greeting", "220-hello\r\n"),
		"line":         ftptest.Endless("SIZE", "x"),
		"lines":        ftptest.Endless("SIZE", "213-1\r\n"),
		"features":     ftptest.Endless("FEAT", "211-REST STREAM\r\n"),
		"ports":        ftptest.Endless("EPSV", "229-(|||1|)\r\n"),
		"replies":      ftptest.Endless("REST", "350 go on\r\n"),
		"to its login": ftptest.Endless("PASS", "230-welcome\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, option)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := fetch(t, newClient(t), s.URL, Options{}, part(5, 100))
			want := source.FaultLimit
			if name == "replies" { // the second reply belongs to no command
				want = source.FaultProtocol
			}
			sourcetest.Fault(t, err, want, false)
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 8 {
				t.Errorf("%d MiB were allocated", took)
			}
		})
	}
}

// TestDelay_Rule21 checks that a server that replies 120 gets the usual time for its next reply (rule 21).
func TestDelay_Rule21(t *testing.T) {
	s := newServer(t, ftptest.Reply("greeting", "120 in a moment\r\n220 now\r\n"))
	mustFetch(t, newClient(t), s.URL, Options{}, part(0, 9))
	s = newServer(t, ftptest.Reply("greeting", "120 in a moment\r\n"))
	c := newClient(t)
	c.Timeout = 50 * time.Millisecond
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}

// TestEndThatDoesNotCome checks that a fetch succeeds after the last byte although the server keeps the connections
// open or resets them, and that it does not delay the next fetch.
func TestEndThatDoesNotCome(t *testing.T) {
	for name, option := range map[string]ftptest.Option{
		"stalls": ftptest.StallAfter(file.Size()),
		"resets": ftptest.ResetAfter(file.Size()),
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, option)
			c := newClient(t)
			c.Timeout, c.CloseTimeout = time.Hour, 50*time.Millisecond
			mustFetch(t, c, s.URL, Options{}, part(file.Size()-1000, file.Size()))
			c.CloseTimeout = time.Minute
			s.Set(ftptest.StallAfter(-1), ftptest.ResetAfter(-1))
			mustFetch(t, c, s.URL, Options{}, part(0, 9))
			if s.Connections() != 2 {
				t.Errorf("%d control connections, want a second one", s.Connections())
			}
		})
	}
}

// TestAfterthought checks that a late reply to one transfer is not taken for the reply to a command of the next one.
func TestAfterthought(t *testing.T) {
	for _, late := range []string{"226 closed\r\n", "426 aborted\r\n", "550 what was that?\r\n"} {
		t.Run(shown(late), func(t *testing.T) {
			s := newServer(t, ftptest.Afterthought(late))
			src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
			for _, r := range []struct{ from, to int64 }{{0, 1000}, {1000, 3000}} {
				k := &sourcetest.Sink{T: t}
				if err := src.Fetch(t.Context(), part(r.from, r.to), k); err != nil {
					t.Fatal(err)
				}
				k.Has(file, part(r.from, r.to))
			}
			if s.Connections() != 2 || s.MaxConcurrent() != 1 {
				t.Errorf("%d connections, %d transfers at a time", s.Connections(), s.MaxConcurrent())
			}
		})
	}
}

// TestEarly226BeforeData_Rule59 checks that a reply 226 before the data neither ends the transfer nor makes it complete
// (rule 59).
func TestEarly226BeforeData_Rule59(t *testing.T) {
	s := newServer(t, ftptest.Early226())
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, whole)
	mustFetch(t, c, s.URL, Options{}, part(5, 5000))
	mustFetch(t, c, s.URL, Options{}, part(7, 9000))
	s.Set(ftptest.EndAfter(70_000))
	k, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
	k.Has(file, part(0, 70_000))
}

// TestSizeNotAllowed checks that a file is downloaded from a server that replies 550 to every SIZE, if MDTM shows that
// the file exists.
func TestSizeNotAllowed(t *testing.T) {
	s := newServer(t, ftptest.Reply("SIZE", "550 not allowed\r\n"))
	k := mustFetch(t, newClient(t), s.URL, Options{}, part(10, 500))
	if k.Heard.Size != -1 || k.Heard.LastModified.IsZero() {
		t.Errorf("answer is %+v", k.Heard)
	}
	s = newServer(t, ftptest.Reply("SIZE", "550 no such file\r\n"), ftptest.Reply("MDTM", "550 no such file\r\n"))
	if _, err := fetch(t, newClient(t), s.URL, Options{}, whole); s.Asked("EPSV") > 0 {
		t.Errorf("%v, commands %q", sourcetest.Fault(t, err, source.FaultRefused, false), s.Commands())
	}
	s = newServer(t, ftptest.Reply("SIZE", "550 not allowed\r\n"), ftptest.Reply("RETR", "550 nor this\r\n"))
	_, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
}

// TestIPv6 checks that only EPSV is used with IPv6 (RFC 2428).
func TestIPv6(t *testing.T) {
	s := newServer(t, ftptest.IPv6())
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, part(3, 5000))
	if !strings.Contains(s.URL, "[::1]") || s.Asked("EPSV") != 1 || s.Asked("PASV") != 0 {
		t.Errorf("%s: commands %q", s.URL, s.Commands())
	}
	s = newServer(t, ftptest.IPv6(), ftptest.Reply("EPSV", "500 what\r\n"))
	_, err := fetch(t, c, s.URL, Options{}, whole)
	if sourcetest.Fault(t, err, source.FaultRefused, false); s.Asked("PASV") > 0 {
		t.Errorf("commands are %q", s.Commands())
	}
}

// TestPortsLie_Rule58 checks ports at which a silent server listens, and replies without a valid port.
func TestPortsLie_Rule58(t *testing.T) {
	other := newServer(t, ftptest.Reply("greeting", "")) // accepts connections and is silent
	_, port, _ := strings.Cut(other.Addr, ":")
	s := newServer(t, ftptest.Reply("EPSV", "229 (|||"+port+"|)\r\n"))
	c := newClient(t)
	c.Timeout = 50 * time.Millisecond
	_, err := fetch(t, c, s.URL, Options{}, part(0, 9))
	sourcetest.Fault(t, err, source.FaultNetwork, true)
	for _, said := range []string{"229 (|||99999|)", "229 (|||)", "229 (||||||||)", "229 (|2|::1|21", "229 ((((("} {
		s := newServer(t, ftptest.Reply("EPSV", said+"\r\n"))
		_, err := fetch(t, newClient(t), s.URL, Options{}, part(0, 9))
		sourcetest.Fault(t, err, source.FaultProtocol, false)
	}
	for _, said := range []string{"227 (127,0,0,1,0,0)", "227 (127,0,0,1,256,0)", "227 127.0.0.1:21",
		"227 (-1,-1,-1,-1,-1,-1)", "227"} {
		s := newServer(t, ftptest.Reply("EPSV", "502 no\r\n"), ftptest.Reply("PASV", said+"\r\n"))
		_, err := fetch(t, newClient(t), s.URL, Options{}, part(0, 9))
		sourcetest.Fault(t, err, source.FaultProtocol, false)
	}
}

// TestNoHandshakeForData_Rule21 checks the timeout for the TLS handshake of a data connection.
func TestNoHandshakeForData_Rule21(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	s := newServer(t, ftptest.TLS(config), ftptest.NoHandshake())
	c := trusting(t, pem)
	c.ConnectTimeout = 300 * time.Millisecond
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}
