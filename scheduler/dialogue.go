package scheduler

import "time"

// A source that is asked in a dialogue, as an FTP server is, is asked several things before it brings bytes, and more of
// them the first time, when it wants to know who we are. Each answer comes over a connection of its own, which begins
// slowly: requests to it are dear, and it is quiet for longer until it begins.

// firstSilence is how many times as long as others such a source may be quiet before its first answer tells how far away
// it is.
const firstSilence = 3

// firstTrips is how many times the dialogue of each request the first one may take, with a login and TLS.
const firstTrips = 3

// mayBeQuiet is for how long nothing may come of f while another source could do its work.
func (f *fetch) mayBeQuiet() time.Duration {
	m := f.src
	limit := max(silence, silenceRTTs*m.rtt)
	switch {
	case m.trips == 0 || f.got > 0:
		return limit
	case m.rtt == 0:
		return firstSilence * limit
	}
	return max(limit, (silenceRTTs+firstTrips*time.Duration(m.trips))*m.rtt)
}

// warmTrips is how many round trips the window of a new connection may take to grow.
const warmTrips = 8

// warming is how long it takes until a new answer shows what its source can do, if each has a connection of its own.
func (m *mirror) warming() time.Duration {
	if m.trips == 0 {
		return 0
	}
	return warmTrips * m.rtt
}
