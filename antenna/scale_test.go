package antenna

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"braid/address"
	"braid/internal/web"
)

// many is a network of feeds with equal records, all of which change every hour.
type many struct {
	start   time.Time
	records int

	mu      sync.Mutex
	minutes []int // number of polls in each minute
	polls   int
}

func (n *many) RoundTrip(req *http.Request) (*http.Response, error) {
	n.mu.Lock()
	n.polls++
	if minute := int(time.Since(n.start) / time.Minute); minute < len(n.minutes) {
		n.minutes[minute]++
	}
	n.mu.Unlock()
	hour := n.start.Add(time.Since(n.start).Truncate(time.Hour))
	etag := fmt.Sprintf(`"%d"`, hour.Unix())
	if req.Header.Get("If-None-Match") == etag {
		return reply(304, http.NoBody), nil
	}
	return reply(200, strings.NewReader(n.text(req.URL.Host, hour)), "ETag: "+etag), nil
}

func (n *many) text(host string, at time.Time) string {
	var b strings.Builder
	for i := range n.records {
		b.WriteString(lirsLine(fmt.Sprintf("https://%s/%d", host, i), at, at, 1000))
	}
	return b.String()
}

// manyFeeds returns an antenna with feeds and watches. Each watch is for a record of another feed in turn.
func manyFeeds(n *many, feeds, watches int) *Antenna {
	a := &Antenna{Transport: n, Handlers: 64}
	for i := range feeds {
		a.Feeds = append(a.Feeds, Feed{URL: fmt.Sprintf("https://feed%d.example/antenna.lirs", i), Every: 10 * time.Minute})
	}
	for i := range watches {
		a.Watches = append(a.Watches, Watch{URL: fmt.Sprintf("https://feed%d.example/%d", i%feeds, i/feeds)})
	}
	return a
}

// TestScale polls 5,000 feeds every ten minutes, and checks that the polls are spread evenly and that memory is
// limited. The environment variable BRAID_SCALE_HOURS sets the simulated time; scripts/antenna prints the cost of a
// day.
func TestScale(t *testing.T) {
	const feeds = 5000
	watches := 10_000
	hours, err := strconv.ParseFloat(os.Getenv("BRAID_SCALE_HOURS"), 64)
	if err != nil {
		hours, watches = 0.2, 1000
	}
	synctest.Test(t, func(t *testing.T) {
		before := heapInUse()
		span := time.Duration(hours * float64(time.Hour))
		n := &many{start: time.Now(), records: 20, minutes: make([]int, int(span/time.Minute))}
		a := manyFeeds(n, feeds, watches)
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		a.Store.db.NoSync = true // a disk would be too slow for thousands of updates at once
		updates := 0
		var mu sync.Mutex
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		var most uint64
		time.AfterFunc(span-time.Second, func() { most = heapInUse() })
		began := used()
		err := a.Watch(ctx, func(context.Context, Update) (Outcome, error) {
			mu.Lock()
			defer mu.Unlock()
			updates++
			return Outcome{Changed: true}, nil
		})
		cpu := used() - began
		if want := watches * (1 + int(hours)); !errors.Is(err, context.DeadlineExceeded) || updates < want*9/10 {
			t.Errorf("%d updates, want about %d: %v", updates, want, err)
		}
		mib := float64(most-before) / (1 << 20)
		if mib > 150 {
			t.Errorf("%.0f MiB of heap", mib)
		}
		low, high := feeds, 0
		for _, polls := range n.minutes {
			low, high = min(low, polls), max(high, polls)
		}
		// The second polls have jitter, so half a minute without polls is between them and the first ones.
		if mean := n.polls / len(n.minutes); high > mean*5/4 || low < mean/3 {
			t.Errorf("%d to %d polls a minute, %d on average", low, high, mean)
		}
		t.Logf("%d feeds, %d watches, %.1f h: %d polls, %d updates; CPU %v (%v a poll); heap %.1f MiB; %d to %d polls a minute",
			feeds, watches, hours, n.polls, updates, cpu.Round(time.Millisecond),
			(cpu / time.Duration(n.polls)).Round(time.Microsecond), mib, low, high)
	})
}

// heapInUse returns the bytes of reachable heap objects.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// used returns the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// onePoll does the work of one poll without goroutines.
func onePoll(l *loop) {
	now := time.Now()
	m, _, _ := l.polls.due.first()
	l.polls.due.remove(m)
	l.polls.begin(m, now)
	h := l.polls.hosts.next(now.Add(time.Minute))
	a := l.poller.poll(context.Background(), h.task)
	l.polls.hosts.done(taskHost(&h.task), 0, now)
	l.polls.answered(h, a, now)
	l.buffer.clear()
}

// pollsOf returns a loop with size/2 feeds and size watches. Each poll returns 20 records, two of which are watched.
func pollsOf(tb testing.TB, size int) *loop {
	n := &many{start: time.Now().Add(-time.Hour), records: 20}
	a := manyFeeds(n, size/2, size)
	l, err := a.newLoop()
	if err == nil {
		err = newLoader(l).start(time.Now())
	}
	if err != nil {
		tb.Fatal(err)
	}
	l.poller.web = &web.Client{Transport: unconditional{n}}
	return l
}

// unconditional removes the validators from requests.
type unconditional struct{ http.RoundTripper }

func (u unconditional) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Del("If-None-Match")
	return u.RoundTripper.RoundTrip(req)
}

// TestCostOfAPollIsFlat checks that the allocations of a poll do not depend on the number of feeds and watches.
// BenchmarkPoll measures its time.
func TestCostOfAPollIsFlat(t *testing.T) {
	var costs []float64
	for _, size := range []int{100, 1000, 10_000} {
		l := pollsOf(t, size)
		for range size / 2 {
			onePoll(l)
		}
		costs = append(costs, testing.AllocsPerRun(200, func() { onePoll(l) }))
	}
	if costs[2] > costs[0]*1.1 {
		t.Errorf("allocations at 100, 1,000 and 10,000 watches: %v", costs)
	}
}

func BenchmarkPoll(b *testing.B) {
	for _, size := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d watches", size), func(b *testing.B) {
			l := pollsOf(b, size)
			for range size {
				onePoll(l)
			}
			b.ReportAllocs()
			for b.Loop() {
				onePoll(l)
			}
		})
	}
}

// TestManyRecords checks that reading a large feed needs memory only for the records that are kept.
func TestManyRecords(t *testing.T) {
	const records = 200_000
	line := lirsLine("https://elsewhere.example/dist/some-file.iso", time.Now(), time.Now(), 5)
	l, err := (&Antenna{Feeds: []Feed{{Name: "f", URL: feedURL}}, Watches: []Watch{{URL: fileURL}}}).newLoop()
	if err != nil {
		t.Fatal(err)
	}
	body := io.MultiReader(strings.NewReader(lirsLine(fileURL, time.Now(), time.Now(), 5)), &repeated{text: line, n: records})
	before, most, n := heapInUse(), uint64(0), 0
	k, err := l.poller.read(t.Context(), &task{feed: &l.polls.members[0].feed}, readerFunc(func(p []byte) (int, error) {
		if n++; n%4000 == 0 {
			most = max(most, heapInUse())
		}
		return body.Read(p)
	}), 0, address.Public)
	if err != nil || k.records != records+1 || len(k.matches) != 1 {
		t.Fatalf("%+v, %v", k, err)
	}
	if grown := int64(most) - int64(before); most == 0 || grown > 4<<20 {
		t.Errorf("%d octets more, looked at %d times", grown, n/4000)
	}
}

// repeated is a reader of text, n times.
type repeated struct {
	text string
	n    int
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
