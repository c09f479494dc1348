package antenna

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"braid/address"
)

// maxAsked limits how many requests an hour a host gets for releases that are not ready.
const maxAsked = 60

// asked maps each host to the times of the latest requests to it for releases that were not ready, at most maxAsked
// times for each host.
type asked map[string][]time.Time

// count records n requests to a host.
func (a asked) count(host string, n int, now time.Time) {
	list := append(a[host], slices.Repeat([]time.Time{now}, min(n, maxAsked))...)
	a[host] = list[max(0, len(list)-maxAsked):]
}

// room returns when a host may get n more requests. The time is zero or past if the host may get them now.
func (a asked) room(host string, n int) (at time.Time) {
	list := a[host]
	if over := len(list) + min(n, maxAsked) - maxAsked; over > 0 {
		at = list[over-1].Add(time.Hour)
	}
	return at
}

// tidy forgets the hosts without a request within the last hour.
func (a asked) tidy(now time.Time) {
	maps.DeleteFunc(a, func(_ string, list []time.Time) bool { return now.Sub(list[len(list)-1]) >= time.Hour })
}

// requests returns how many requests the next attempt for a release is expected to send to each host: as many as the
// last attempt, and at least one to the host of t's URL.
func (t *target) requests() map[string]int { return withOwn(t, t.sent) }

func withOwn(t *target, sent map[string]int) map[string]int {
	all := map[string]int{}
	maps.Copy(all, sent)
	if u, err := url.Parse(t.url); err == nil {
		host := address.HostPort(u)
		all[host] = max(all[host], 1)
	}
	return all
}

// full reports whether another attempt for the release of t must wait, and until when. It must if a host has had too
// many requests within the last hour. If not, full counts the requests that the attempt is expected to send. Only a
// release that was not ready before must wait.
func (f *followers) full(t *target, now time.Time) (until time.Time, full bool) {
	if r := t.saved.Release; r == nil || r.Asked == 0 {
		return until, false
	}
	f.asked.tidy(now)
	expected := t.requests()
	for host, n := range expected {
		if at := f.asked.room(host, n); at.After(now) && at.After(until) {
			until = at
		}
	}
	if !until.IsZero() {
		return until, true
	}
	for host, n := range expected {
		f.asked.count(host, n, now)
	}
	return until, false
}

// charge counts the requests that an attempt for the release of t has sent, if the release was not ready before or is
// not ready now. Requests that followers.full counted in advance are not counted again.
func (f *followers) charge(t *target, sent map[string]int, err error, now time.Time) {
	r := t.saved.Release
	if _, late := isLate(t, err); r == nil || r.Asked == 0 && !late {
		return
	}
	counted := map[string]int{}
	if r.Asked > 0 {
		counted = t.requests()
	}
	for host, n := range withOwn(t, sent) {
		if n -= counted[host]; n > 0 {
			f.asked.count(host, n, now)
		}
	}
	t.sent = sent
}
