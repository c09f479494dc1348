package antenna

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"braid/address"
	"braid/internal/web"
)

// TestWay_Rule63 checks over real connections that a URL of the user may have any address, and that a URL from a server
// on the Internet may not.
func TestWay_Rule63(t *testing.T) {
	p := page{modified: time.Now()}
	p.set(lirsLine(fileURL, time.Now(), time.Now(), 1))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/antenna.lirs", http.StatusFound)
			return
		}
		w.Write([]byte(p.text))
	}))
	defer server.Close()
	j := &journal{}
	wrapped := &counted{}
	a := &Antenna{
		Feeds: []Feed{{URL: server.URL + "/away"}}, Watches: []Watch{{URL: fileURL}}, HostGap: time.Millisecond,
		Observe: j.observe,
		Wrap:    wrapped.wrap,
	}
	if err := a.Once(t.Context(), j.take); err != nil || len(j.got()) != 1 {
		t.Errorf("what the user typed: %v, %d updates", err, len(j.got()))
	}
	if n := wrapped.n.Load(); n != 2 {
		t.Errorf("%d requests passed what is around the connections", n)
	}
	// The address of a name is checked, not the name.
	u, _ := url.Parse(strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/")
	l, err := (&Antenna{}).newLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer l.poller.web.CloseIdle()
	ask := func(named address.Scope) error {
		f := &Feed{URL: u.String(), Limits: Limits{}.orDefault()}
		return l.poller.poll(t.Context(), task{feed: f, Trail: web.Trail{URL: u, Named: named}}).err
	}
	var near *address.Error
	if err := ask(address.Public); !errors.As(err, &near) {
		t.Errorf("named by somebody on the Internet: %v", err)
	}
	for _, s := range []address.Scope{0, address.Public | address.Loopback} {
		if err := ask(s); err != nil {
			t.Errorf("named by %v: %v", s, err)
		}
	}
}

// counted is a RoundTripper that counts the requests of an antenna.
type counted struct {
	own http.RoundTripper
	n   atomic.Int64
}

func (c *counted) wrap(own http.RoundTripper) http.RoundTripper {
	c.own = own
	return c
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.own.RoundTrip(r)
}

// TestAllowHosts_Rule63 checks that a redirect to an allowed host is followed, whatever its address.
func TestAllowHosts_Rule63(t *testing.T) {
	for _, allowed := range []string{"", "nas.example", "10.0.0.0/8"} {
		synctest.Test(t, func(t *testing.T) {
			w, p, a, j := oneFeed(t)
			w.sites["feeds.example"] = func(*http.Request) *http.Response { return says(302, "", "Location: https://10.0.0.1/") }
			w.sites["10.0.0.1"] = p.answer
			if allowed != "" {
				if err := a.AllowHosts.Add(allowed); err != nil {
					t.Fatal(err)
				}
			}
			watchFor(t, a, j, time.Minute)
			if got := len(j.got()); got != map[string]int{"10.0.0.0/8": 1}[allowed] {
				t.Errorf("%q is allowed: %d updates", allowed, got)
			}
		})
	}
}

// TestProxy_Rule63 checks that a proxy may have any address and that the hosts requested through it are checked.
func TestProxy_Rule63(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Host)
		mu.Unlock()
		if r.URL.Host == "feeds.example" {
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Write([]byte("# nothing\n"))
	}))
	defer proxy.Close()
	through, _ := url.Parse(proxy.URL)
	j := &journal{}
	a := &Antenna{
		Feeds: []Feed{
			{Name: "near", URL: "http://feeds.example/?to=http://10.0.0.1/"}, {Name: "typed", URL: "http://10.0.0.2/"},
			{Name: "far", URL: "http://feeds.example/?to=http://other.example/"},
		},
		HostGap: time.Millisecond,
		Observe: j.observe, Proxy: func(*url.URL) (*url.URL, error) { return through, nil },
	}
	err := a.Once(t.Context(), j.take)
	var near *address.Error
	if !errors.As(err, &near) || near.Addr.String() != "10.0.0.1" || len(eventsOf[Polled](j)) != 2 || len(asked) != 4 {
		t.Errorf("%v, asked for %q", err, asked)
	}
	broken := errors.New("no proxy today")
	a.Proxy = func(*url.URL) (*url.URL, error) { return nil, broken }
	if err := a.Once(t.Context(), j.take); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestProxyFromEnvironment checks that without Proxy the same environment variables are used as for downloads,
// including all_proxy, which net/http ignores. An invalid value is an error, because a request that was sent directly
// cannot be taken back.
func TestProxyFromEnvironment(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("# nothing\n")) }))
	defer proxy.Close()
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "")
	}
	j := &journal{}
	a := &Antenna{Feeds: []Feed{{URL: "http://feeds.example/"}}, HostGap: time.Millisecond, Observe: j.observe}
	t.Setenv("all_proxy", proxy.URL)
	if err := a.Once(t.Context(), j.take); err != nil || len(eventsOf[Polled](j)) != 1 {
		t.Errorf("through the proxy: %v", err)
	}
	t.Setenv("all_proxy", "gopher://h/")
	if err := a.Once(t.Context(), j.take, "http://feeds.example/"); err == nil || !strings.Contains(err.Error(), "all_proxy") {
		t.Errorf("through none: %v", err)
	}
}

// TestRelayedAddresses_Rule63 checks that a record is relayed only if its address is public or in the scope of its
// feed. A file and a server on this machine both have the scope of loopback addresses.
func TestRelayedAddresses_Rule63(t *testing.T) {
	text := ""
	for _, host := range []string{"127.0.0.1", "10.0.0.1", "192.0.2.1", "h.example"} {
		text += lirsLine("http://"+host+"/", time.Now(), time.Now(), 1)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "antenna.lirs")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []Feed{{URL: server.URL, Relay: true}, {URL: path, Local: true, Relay: true}} {
		j := &journal{}
		a := &Antenna{Feeds: []Feed{f}, Observe: j.observe}
		if err := a.Once(t.Context(), j.take); err != nil {
			t.Error(err)
		}
		if e := eventsOf[Polled](j); len(e) != 1 || e[0].Relayed != 3 || e[0].Skipped != 1 {
			t.Errorf("%s: %+v", f.URL, e)
		}
	}
}
