package httpsource

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"braid/byterange"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// unwired is a RoundTripper that responds without a network, for tests in virtual time.
type unwired struct {
	t      *testing.T
	begun  time.Time
	answer func(r *http.Request) (status int, field, value string)
	mu     sync.Mutex
	asked  []string
}

func (w *unwired) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.asked = append(w.asked, fmt.Sprintf("%s at %v", r.URL.Host, time.Since(w.begun)))
	w.mu.Unlock()
	status, field, value := w.answer(r)
	return &http.Response{
		StatusCode: status, Header: http.Header{field: {value}}, Body: io.NopCloser(strings.NewReader("x")),
		ContentLength: 1, Request: r,
	}, nil
}

// saw checks that these requests were made since the last call.
func (w *unwired) saw(want string) {
	w.t.Helper()
	if got := strings.Join(w.asked, ", "); got != want {
		w.t.Errorf("asked: %s, want %s", got, want)
	}
	w.asked = nil
}

func newUnwired(t *testing.T, c *Client, answer func(r *http.Request) (status int, field, value string)) *unwired {
	w := &unwired{t: t, begun: time.Now(), answer: answer}
	c.Transport = w
	return w
}

var all = byterange.Range{End: byterange.Unbounded}

// TestRetryAfterForAll_Rule66 checks that Retry-After applies to all requests of a client to that host, with any path
// and after redirects, and to no other host.
func TestRetryAfterForAll_Rule66(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, busy := &Client{}, "60"
		w := newUnwired(t, c, func(r *http.Request) (int, string, string) {
			switch {
			case r.URL.Host == "moved.example":
				return 302, "Location", "http://busy.example/c"
			case r.URL.Host == "busy.example" && busy != "":
				return 503, "Retry-After", busy
			}
			return 200, "X", "y"
		})
		_, err := fetch(t, c, "http://busy.example/a", Options{}, all)
		sourcetest.Fault(t, err, source.FaultRefused, true)
		time.Sleep(10 * time.Second)
		for _, u := range []string{"http://busy.example/b", "http://busy.example:80/a?b", "http://moved.example/x"} {
			_, err := fetch(t, c, u, Options{Returns: true}, all)
			e := sourcetest.Fault(t, err, source.FaultRefused, true)
			if want := "busy.example:80: not asked: it responded 503 Service Unavailable and asked to wait until " +
				"2000-01-01T00:01:00Z"; e.After != 50*time.Second || e.Error() != want || e.Held || e.Status != 503 {
				t.Errorf("after %v: %v, want %s", e.After, e, want)
			}
		}
		w.saw("busy.example at 0s, moved.example at 10s")
		mustFetch(t, c, "http://busy.example:8080/a", Options{}, all)
		mustFetch(t, new(Client).with(w), "http://moved.example:1/a", Options{}, all)
		w.asked = nil
		busy = ""
		time.Sleep(50 * time.Second)
		mustFetch(t, c, "http://busy.example/a", Options{}, all)
		w.saw("busy.example at 1m0s")

		// A wait longer than MaxAfter counts as a refusal. The host is asked again after at most an hour. An invalid
		// Retry-After is ignored.
		busy = "86400"
		_, err = fetch(t, c, "http://busy.example/a", Options{}, all)
		sourcetest.Fault(t, err, source.FaultRefused, false)
		time.Sleep(mostHeld - time.Second)
		_, err = fetch(t, c, "http://busy.example/a", Options{}, all)
		sourcetest.Fault(t, err, source.FaultRefused, true)
		time.Sleep(time.Second)
		for _, busy = range []string{"soon", "-1", "0"} {
			fetch(t, c, "http://busy.example/a", Options{}, all)
		}
		w.saw("busy.example at 1m0s, busy.example at 1h1m0s, busy.example at 1h1m0s, busy.example at 1h1m0s")
	})
}

// TestUnheeded_Rules66_77 checks that a request that may be missed stops no others, and is not sent while the host must
// not be asked.
func TestUnheeded_Rules66_77(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{}
		w := newUnwired(t, c, func(r *http.Request) (int, string, string) {
			if strings.HasPrefix(r.URL.Path, "/busy") {
				return 503, "Retry-After", "60"
			}
			return 200, "X", "y"
		})
		_, err := fetch(t, c, "http://a.example/busy", Options{Unheeded: true}, all)
		if e := sourcetest.Fault(t, err, source.FaultRefused, true); e.After != time.Minute {
			t.Errorf("after %v: %v", e.After, e)
		}
		mustFetch(t, c, "http://a.example/", Options{}, all)
		_, err = fetch(t, c, "http://a.example/busy", Options{}, all)
		sourcetest.Fault(t, err, source.FaultRefused, true)
		time.Sleep(time.Second)
		_, err = fetch(t, c, "http://a.example/", Options{Unheeded: true}, all)
		sourcetest.Fault(t, err, source.FaultRefused, true)
		w.saw("a.example at 0s, a.example at 0s, a.example at 0s")
	})
}

func (c *Client) with(t http.RoundTripper) *Client {
	c.Transport = t
	return c
}

// TestHostRate_Rule66 checks that all requests to a host together keep to its rate, and that a source whose turn is not
// soon gets an error with the time of its turn and can send its request then.
func TestHostRate_Rule66(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{HostRate: func(u *url.URL) float64 { return map[string]float64{"slow.example": 2}[u.Host] }}
		w := newUnwired(t, c, func(r *http.Request) (int, string, string) { return 200, "X", "y" })
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				src := c.Source(sourcetest.URL(t, fmt.Sprintf("http://slow.example/%d", i)), Options{Returns: i%2 == 0})
				for held := 0; ; held++ {
					err := src.Fetch(t.Context(), all, &sourcetest.Sink{T: t})
					if err == nil {
						break
					}
					e := sourcetest.Fault(t, err, source.FaultNetwork, true)
					if !e.Held || e.After <= shortTurn || held > 0 {
						t.Errorf("after %v: %v", e.After, e)
					}
					time.Sleep(e.After)
				}
			})
		}
		wg.Go(func() { mustFetch(t, c, "http://quick.example/", Options{}, all) })
		wg.Wait()
		var slow []string
		for _, a := range w.asked {
			if strings.HasPrefix(a, "slow") {
				slow = append(slow, strings.TrimPrefix(a, "slow.example at "))
			}
		}
		if got, want := strings.Join(slow, " "), "0s 500ms 1s 1.5s 2s 2.5s"; got != want || len(w.asked) != 7 {
			t.Errorf("asked at %s, want %s", got, want)
		}
		fetch(t, c, "http://slow.example/", Options{}, all)
		for range 100 {
			if err := c.Source(sourcetest.URL(t, "http://slow.example/"), Options{}).Fetch(canceled(), all, nil); err == nil {
				t.Error("it waits though its context is over")
			}
		}
		began := time.Now()
		mustFetch(t, c, "http://slow.example/", Options{}, all)
		if waited := time.Since(began); waited != 500*time.Millisecond {
			t.Errorf("it waits %v: the turns of those that were cancelled are not given back", waited)
		}
	})
}

// TestHostsAreForgotten checks that hosts are removed unless they are held.
func TestHostsAreForgotten(t *testing.T) {
	var h hosts
	now := time.Unix(1e9, 0)
	h.Hold("held", 503, time.Hour, now)
	for i := range 5 * mostHosts {
		h.Turn(t.Context(), fmt.Sprint(i), 10, now.Add(time.Duration(i)*time.Second/100))
	}
	if wait, _ := h.Held("held", now.Add(time.Minute)); wait == 0 || len(h.known) > mostHosts+1 {
		t.Errorf("%d are known, and the held one for %v", len(h.known), wait)
	}
}
