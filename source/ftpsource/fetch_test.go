package ftpsource

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/internal/test/ftptest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

func TestFetchWhole(t *testing.T) {
	s := newServer(t)
	begun := time.Now()
	k := mustFetch(t, newClient(t), s.URL, Options{}, whole)
	a := k.Heard
	if a.Host != s.Addr || a.URL.String() != s.URL || a.Start != 0 || a.End != file.Size() || a.Size != file.Size() || !a.Ranged {
		t.Errorf("answer is %+v", a)
	}
	if want := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC); !a.LastModified.Equal(want) || a.RTT <= 0 ||
		a.RTT > time.Since(begun) {
		t.Errorf("modified %v, RTT %v", a.LastModified, a.RTT)
	}
	if a.ETag != "" || len(a.Claims) != 0 || len(a.Hops) != 1 || a.Hops[0].URL.String() != s.URL {
		t.Errorf("answer is %+v", a)
	}
	want := []string{"USER anonymous", "PASS braid@", "FEAT", "TYPE I", "SIZE file.bin", "MDTM file.bin", "EPSV", "RETR file.bin"}
	if got := s.Commands(); !slices.Equal(got, want) {
		t.Errorf("commands are %q, want %q", got, want)
	}
}

func TestFetchRange(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	src := c.Source(sourcetest.URL(t, s.URL), Options{})
	end := file.Size()
	for _, tt := range []struct{ ask, want byterange.Range }{
		{part(0, 1), part(0, 1)},
		{part(0, end), part(0, end)},
		{part(5, 300_000), part(5, 300_000)},
		{part(end-1, end), part(end-1, end)},
		{part(end-10, end+10), part(end-10, end)},
		{part(7, byterange.Unbounded), part(7, end)},
	} {
		k := &sourcetest.Sink{T: t}
		if err := src.Fetch(t.Context(), tt.ask, k); err != nil {
			t.Fatalf("%v: %v", tt.ask, err)
		}
		k.Has(file, tt.want)
		if a := k.Heard; !a.Ranged || a.Start != tt.want.Start || a.End != tt.want.End || a.Size != end {
			t.Errorf("%v: answer is %+v", tt.ask, a)
		}
	}
	if s.Connections() != 1 || s.MaxConcurrent() != 1 {
		t.Errorf("%d connections, %d transfers at a time; all of this is one after the other", s.Connections(), s.MaxConcurrent())
	}
	if s.Asked("MDTM") != 1 || s.Asked("SIZE") != 6 {
		t.Errorf("commands are %q", s.Commands())
	}
}

func TestFetchEmptyRangeAsksNobody(t *testing.T) {
	s := newServer(t)
	k := mustFetch(t, newClient(t), s.URL, Options{}, part(5, 5))
	if k.Heard != nil || s.Connections() != 0 {
		t.Errorf("answer %v, %d connections", k.Heard, s.Connections())
	}
}

func TestFetchEmptyFile(t *testing.T) {
	s := newServer(t, ftptest.Size(0), ftptest.EndAfter(0))
	k, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	if err != nil || k.Heard.Size != 0 || len(k.Data) != 0 {
		t.Errorf("%v, answer %+v, %d bytes", err, k.Heard, len(k.Data))
	}
}

// Where a range ends before the file does, the server is left to itself, and the connection serves the next range.
func TestShrunkRangeKeepsConnection_Rule38(t *testing.T) {
	s := newServer(t, ftptest.StallAfter(500_000)) // the rest waits for somebody who takes it, or leaves
	src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
	for range 3 {
		k := &sourcetest.Sink{T: t, Limit: 100_000}
		if err := src.Fetch(t.Context(), whole, k); err != nil {
			t.Fatal(err)
		}
		k.Has(file, part(0, 100_000))
	}
	if s.Connections() != 1 || s.MaxConcurrent() != 1 {
		t.Errorf("%d connections, %d transfers at a time", s.Connections(), s.MaxConcurrent())
	}
}

// A refused answer costs no data connection.
func TestRefusedAnswer(t *testing.T) {
	s := newServer(t)
	no := errors.New("not wanted")
	src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
	for range 2 {
		if err := src.Fetch(t.Context(), whole, &sourcetest.Sink{T: t, Refuse: no}); err != no {
			t.Errorf("error is %v, want the sink's own", err)
		}
	}
	if s.Asked("EPSV")+s.Asked("RETR") != 0 || s.Connections() != 1 {
		t.Errorf("%d connections, commands %q", s.Connections(), s.Commands())
	}
}

// A server may close connections that wait; that is no failure.
func TestIdleConnectionGone(t *testing.T) {
	for name, reply := range map[string]string{"closed": "", "said": "421 Timeout.\r\n"} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
			if err := src.Fetch(t.Context(), part(0, 10), &sourcetest.Sink{T: t}); err != nil {
				t.Fatal(err)
			}
			if reply == "" {
				s.Drop()
			} else {
				s.Set(onFirst(s, "SIZE", reply))
			}
			k := &sourcetest.Sink{T: t}
			if err := src.Fetch(t.Context(), part(10, 20), k); err != nil {
				t.Fatal(err)
			}
			k.Has(file, part(10, 20))
			if s.Connections() != 2 {
				t.Errorf("%d connections, want 2", s.Connections())
			}
		})
	}
}

// onFirst is a reply as long as there was one connection only.
func onFirst(s *ftptest.Server, command, reply string) ftptest.Option {
	return ftptest.While(func() bool { return s.Asked("USER") < 2 }, ftptest.Reply(command, reply))
}

func TestCancel(t *testing.T) {
	s := newServer(t, ftptest.StallAfter(100_000))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := &sourcetest.Sink{T: t, Writing: func(int64, int) error { cancel(); return nil }}
	src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
	if err := src.Fetch(ctx, whole, k); err != context.Canceled {
		t.Errorf("error is %v", err)
	}
	s.Set(ftptest.StallAfter(-1))
	mustFetch(t, newClient(t), s.URL, Options{}, whole)
	if err := src.Fetch(ctx, whole, &sourcetest.Sink{T: t}); err != context.Canceled {
		t.Errorf("error is %v", err)
	}
}

// Rule 59: credentials are those of the user's own URL, and nobody else's business.
func TestCredentials_Rule59(t *testing.T) {
	for _, tt := range []struct {
		userinfo string
		options  Options
		user     string
		pass     string
	}{
		{"", Options{}, "anonymous", "braid@"},
		{"bob:se%20cret@", Options{}, "bob", "se cret"},
		{"bob@", Options{}, "bob", ""},
		{"bob:x@", Options{User: url.UserPassword("eve", "y")}, "eve", "y"},
		{"bob:x@", Options{Mirror: true}, "anonymous", "braid@"},
		{"bob:x@", Options{Mirror: true, User: url.UserPassword("eve", "y")}, "anonymous", "braid@"},
	} {
		s := newServer(t, ftptest.User(tt.user, tt.pass))
		c := newClient(t)
		mustFetch(t, c, strings.Replace(s.URL, "//", "//"+tt.userinfo, 1), tt.options, part(0, 5))
		if s.Asked("USER") != 1 || s.Commands()[0] != "USER "+tt.user || s.Commands()[1] != "PASS "+tt.pass {
			t.Errorf("%s %+v: %q", tt.userinfo, tt.options, s.Commands())
		}
	}
}

// Rule 59: where the URL has no name, whoever knows one is asked, and about nobody's mirrors.
func TestCredentialsByFunction_Rule59(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	var asked []string
	c.Credentials = func(u *url.URL) *url.Userinfo {
		asked = append(asked, u.String())
		return url.UserPassword("bob", "x")
	}
	withName := strings.Replace(s.URL, "//", "//eve:y@", 1)
	for _, u := range []string{s.URL, withName} {
		c.Source(sourcetest.URL(t, u), Options{Mirror: true})
	}
	c.Source(sourcetest.URL(t, withName), Options{})
	c.Source(sourcetest.URL(t, s.URL), Options{User: url.User("mallory")})
	if len(asked) > 0 {
		t.Errorf("it was asked about %q", asked)
	}
	s.Set(ftptest.User("bob", "x"))
	mustFetch(t, c, s.URL, Options{}, part(0, 5))
	mustFetch(t, c, strings.Replace(s.URL, "//", "//bob@", 1), Options{}, part(0, 5)) // a name alone may be one of several
	if !slices.Equal(asked, []string{s.URL, strings.Replace(s.URL, "//", "//bob@", 1)}) {
		t.Errorf("it was asked about %q", asked)
	}
	s.Set(ftptest.User("", ""))
	c.Credentials = func(*url.URL) *url.Userinfo { return nil }
	mustFetch(t, c, s.URL, Options{}, part(0, 5))
	if s.Asked("USER anonymous") != 1 {
		t.Errorf("commands are %q", s.Commands())
	}
}

// Connections of one user are not lent to another.
func TestAccountsStayApart_Rule27(t *testing.T) {
	s := newServer(t, ftptest.User("bob", "x"))
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{User: url.UserPassword("bob", "x")}, part(0, 5))
	_, err := fetch(t, c, s.URL, Options{}, part(0, 5))
	sourcetest.Fault(t, err, source.FaultAuth, false)
	_, err = fetch(t, c, s.URL, Options{User: url.UserPassword("bob", "x"), Mirror: true}, part(0, 5))
	sourcetest.Fault(t, err, source.FaultAuth, false)
}

// Rule 62: a server that repeats the password does not get it into a message.
func TestSecretsAreMasked_Rule62(t *testing.T) {
	s := newServer(t, ftptest.User("alice", "right"))
	_, err := fetch(t, newClient(t), strings.Replace(s.URL, "//", "//token:hunter2@", 1), Options{}, part(0, 5))
	e := sourcetest.Fault(t, err, source.FaultAuth, false)
	if text := e.Error() + e.URL; strings.Contains(text, "hunter2") || strings.Contains(e.Error(), "token") {
		t.Errorf("error is %q at %s", e, e.URL)
	}
}

// Rule 63: addresses are checked before any connection, and again when one is used a second time.
func TestReach_Rule63(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	far := Options{Named: address.Public}
	_, err := fetch(t, c, s.URL, far, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if near, ok := errors.AsType[*address.Error](err); !ok || !near.Addr.IsLoopback() || s.Connections() != 0 {
		t.Errorf("%d connections, %v", s.Connections(), err)
	}
	mustFetch(t, c, s.URL, Options{}, whole)
	_, err = fetch(t, c, s.URL, far, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if s.Connections() != 1 || s.Asked("SIZE") != 1 {
		t.Errorf("%d connections, commands %q", s.Connections(), s.Commands())
	}
	mustFetch(t, c, s.URL, Options{Named: address.Public | address.Loopback}, whole)

	c = newClient(t)
	if err := c.AllowHosts.Add("127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	mustFetch(t, c, s.URL, far, whole)
}

// What is excluded is not connected to: by its name, by its address, and where a connection waits from before.
func TestExcluded_Rule65(t *testing.T) {
	s := newServer(t)
	c := newClient(t)
	mustFetch(t, c, s.URL, Options{}, whole)
	asked := len(s.Commands())
	named := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for _, tt := range []struct{ word, url string }{{"127.0.0.0/8", s.URL}, {"127.0.0.0/8", named}, {"localhost", named}} {
		not := &address.Exclusion{}
		if err := not.Add(tt.word); err != nil {
			t.Fatal(err)
		}
		if tt.word == "127.0.0.0/8" {
			if err := not.Add("::1"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := fetch(t, c, tt.url, Options{Not: not}, whole)
		sourcetest.Fault(t, err, source.FaultRefused, false)
		if near, ok := errors.AsType[*address.Error](err); !ok || near.Excluded == "" {
			t.Errorf("%v: %v", tt, err)
		}
	}
	for _, line := range s.Commands()[asked:] {
		if !strings.HasPrefix(line, "QUIT") {
			t.Errorf("it was asked %q", line)
		}
	}
}

func TestTraits(t *testing.T) {
	if tr := (&Source{}).Traits(); tr.Align != 1 || tr.Trips == 0 || !tr.InOrder || tr.Validators {
		t.Errorf("traits are %+v", tr)
	}
}

// Servers that list no features may begin within a file all the same: the first REST asks.
func TestRestartWithoutFeatures(t *testing.T) {
	s := newServer(t, ftptest.Reply("FEAT", "500 what?\r\n"))
	c := newClient(t)
	for _, r := range []byterange.Range{part(1000, 2000), part(3000, 4000)} {
		if k := mustFetch(t, c, s.URL, Options{}, r); !k.Heard.Ranged || k.Heard.Start != r.Start {
			t.Errorf("%v: answer is %+v", r, k.Heard)
		}
	}
}

// The reason why bytes could not be kept is that of whoever keeps them.
func TestSinkFails(t *testing.T) {
	full := errors.New("no room")
	s := newServer(t)
	k := &sourcetest.Sink{T: t, Writing: func(int64, int) error { return full }}
	if err := newClient(t).Source(sourcetest.URL(t, s.URL), Options{}).Fetch(t.Context(), whole, k); !errors.Is(err, full) {
		t.Errorf("error is %v", err)
	}
}
