package apt

import (
	"net/url"
	"testing"
	"time"

	"braid/download"
)

// TestHosts checks that faster servers get more files, that a server that failed is tried last for a while, and that no
// bytes remain due when all files are done.
func TestHosts(t *testing.T) {
	places := []*url.URL{parseURL(t, "http://slow/x"), parseURL(t, "http://fast/x"), parseURL(t, "http://wrong/x")}
	h := &hosts{}
	h.fail("wrong:80", time.Unix(0, 0))
	rates := map[string]int64{"slow": 1000, "fast": 4000, "wrong": 4000}
	type job struct {
		host string
		done func(time.Time)
	}
	var jobs []job
	count := map[string]int{}
	left := map[string]int64{}
	now := time.Unix(0, 0)
	for tick := range 1200 { // a tick is a tenth of a second
		now = time.Unix(0, 0).Add(time.Duration(tick) * 100 * time.Millisecond)
		for len(jobs) < 6 {
			sorted, done := h.order(places, 1000, now)
			jobs = append(jobs, job{sorted[0].Hostname(), done})
		}
		for host, rate := range rates {
			for left[host] += rate / 10; left[host] >= 1000; left[host] -= 1000 {
				i := 0
				for i < len(jobs) && jobs[i].host != host {
					i++
				}
				if i == len(jobs) {
					left[host] = 0
					break
				}
				h.learn([]download.SourceResult{{Host: host + ":80", Bytes: 1000}})
				jobs[i].done(now)
				jobs = append(jobs[:i], jobs[i+1:]...)
				if count[host]++; host == "wrong" && tick < 300 {
					t.Fatalf("the server that failed was asked first after %d tenths", tick)
				}
			}
		}
	}
	if total := count["slow"] + count["fast"] + count["wrong"]; total < 850 || count["fast"] < 3*count["slow"] ||
		count["wrong"] < 300 {
		t.Errorf("%v", count)
	}
	for _, j := range jobs {
		j.done(now)
	}
	for host, l := range h.all {
		if l.due != 0 {
			t.Errorf("%s: %d bytes are due", host, l.due)
		}
	}
}
