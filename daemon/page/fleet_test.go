package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/daemon/page"
	"braid/fleet"
)

// A crew is a fleet without a NATS server: the tests change its records themselves.
type crew struct {
	mu    sync.Mutex
	board fleet.Board
	names map[string]*fleet.Record
	told  []fleet.Worker
	lost  time.Time
	away  error
}

var crewTime = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

func (c *crew) Look(_ context.Context, most int) (page.Standing, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.board.Status(c.told, crewTime.Add(time.Minute))
	s.Lost = c.lost
	return page.Standing{
		Status: s, Hosts: c.board.Hosts(), Waiting: c.board.In(fleet.Waiting, most), Dead: c.board.In(fleet.Dead, most),
	}, c.away
}

func (c *crew) Retry(_ context.Context, name string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.names[name]
	if r == nil || !r.Retry(crewTime) {
		return false, c.away
	}
	c.board.Put(name, r)
	return true, nil
}

// put adds a job. If worker is not empty, that worker takes the job; if end is not empty, the job also ends that way.
func (c *crew) put(name, worker string, end fleet.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &fleet.Record{}
	at := "https://example.org/"
	if strings.HasSuffix(name, "silent.iso") {
		at = "https://mirror.uni.example:8443/"
	}
	r.Report(fleet.Job{Name: name, URIs: []string{at + name}}, crewTime)
	if worker != "" {
		r.Take(worker, crewTime, time.Hour)
		r.Progress = fleet.Progress{Done: 1 << 20, Size: 4 << 20, Speed: 3 << 20, Sources: 2}
	}
	if end != "" {
		r.Finish(worker, r.Lease.Fence, fleet.Ending{Kind: end,
			Why: at + (&url.URL{Path: name}).EscapedPath() + ": wrong digest of " + name}, crewTime)
	}
	c.names[name] = r
	c.board.Put(name, r)
}

// busyCrew returns a fleet with jobs in every state and workers that run jobs, are idle or do not answer.
func busyCrew() *crew {
	c := &crew{names: map[string]*fleet.Record{}, told: []fleet.Worker{{Name: "vm1/12/abc"}, {Name: "vm2/7/def"}}}
	c.put("isos/running.iso", "vm1/12/abc", "")
	c.put("isos/silent.iso", "vm3/9/ghi", "")
	c.put("queued.iso", "", "")
	c.put("good.iso", "vm1/12/abc", fleet.Right)
	c.put("later.iso", "vm1/12/abc", fleet.Wrong)
	c.put("dead.iso", "vm1/12/abc", fleet.Useless)
	c.put("<img src=x onerror=\"window.hacked=1\">\u202e", "vm1/12/abc", fleet.Useless)
	return c
}

// crewed starts a server with the page of a daemon that hands its downloads to the fleet c.
func crewed(t testing.TB, e *engine, c *crew) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	control := newControl(t, e)
	mux.Handle("/jsonrpc", control)
	mux.Handle("/", page.New(e, page.Options{Admit: control.Admit, Every: 50 * time.Millisecond, Fleet: c}))
	return serve(t, mux)
}

// TestFleetShown checks that clients with the token get the state of the fleet and can retry its dead jobs.
func TestFleetShown(t *testing.T) {
	e, c := newEngine(), busyCrew()
	s := crewed(t, e, c)
	if resp := get(t, t.Context(), site(t, e).URL+"/fleet", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a daemon that downloads itself: %s", resp.Status)
	}
	if resp := get(t, t.Context(), s.URL+"/fleet"); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", resp.Status)
	}
	var v struct {
		Jobs    map[string]int
		Speed   int64
		Lost    int
		Workers []struct {
			Name   string
			Jobs   int
			Silent bool
			Speed  int64
			Hosts  []string
		}
		Hosts []struct {
			Name                                  string
			Running, Queued, Waiting, Dead, Speed int
		}
		Running, Waiting, Dead []struct {
			Key, Name, Worker, Why, Message  string
			Since, Next, Done, Size, Sources int64
		}
	}
	resp := get(t, t.Context(), s.URL+"/fleet", "Authorization", "Bearer "+token)
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	if v.Jobs["queued"] != 1 || v.Jobs["done"] != 1 || v.Speed != 6<<20 || len(v.Workers) != 3 ||
		!v.Workers[2].Silent || v.Workers[2].Jobs != 1 || v.Workers[1].Jobs != 0 ||
		v.Workers[0].Speed != 3<<20 || !slices.Equal(v.Workers[0].Hosts, []string{"example.org"}) ||
		len(v.Workers[1].Hosts) != 0 || !slices.Equal(v.Workers[2].Hosts, []string{"mirror.uni.example:8443"}) ||
		len(v.Running) != 2 || v.Running[0].Worker != "vm1/12/abc" || v.Running[0].Done != 1<<20 ||
		v.Running[0].Since != 60 || v.Running[0].Sources != 2 ||
		len(v.Waiting) != 1 || v.Waiting[0].Next != 240 || len(v.Dead) != 2 ||
		v.Dead[1].Why != "wrong digest of dead.iso" ||
		v.Dead[1].Message != "https://example.org/dead.iso: wrong digest of dead.iso" ||
		!strings.HasSuffix(v.Dead[0].Name, `\u202e`) {
		t.Errorf("the fleet is %+v", v)
	}
	if got, want := fmt.Sprint(v.Hosts), fmt.Sprint([]any{"{example.org 1 1 1 2 3145728}",
		"{mirror.uni.example:8443 1 0 0 0 3145728}"}); got != want {
		t.Errorf("the hosts are %s, want %s", got, want)
	}
	retry := func(name, authorization string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/fleet/retry", strings.NewReader(name))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", authorization)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	got := []int{retry("dead.iso", "Bearer x"), retry("dead.iso", "Bearer "+token), retry("dead.iso", "Bearer "+token),
		retry(v.Dead[0].Key, "Bearer "+token), retry(strings.Repeat("x", 1<<17), "Bearer "+token)}
	if want := []int{401, 204, 409, 204, 400}; !slices.Equal(got, want) {
		t.Errorf("to retry is answered by %v, want %v", got, want)
	}
	if v.Lost != 0 {
		t.Errorf("the queue was lost %d s ago", v.Lost)
	}
	c.mu.Lock()
	c.lost = crewTime.Add(-time.Minute)
	c.mu.Unlock()
	resp = get(t, t.Context(), s.URL+"/fleet", "Authorization", "Bearer "+token)
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil || v.Lost != 120 {
		t.Errorf("the queue was lost %d s ago, %v", v.Lost, err)
	}
	c.mu.Lock()
	c.away = errors.New("no connection")
	c.mu.Unlock()
	if resp := get(t, t.Context(), s.URL+"/fleet", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a queue: %s", resp.Status)
	}
}
