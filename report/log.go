package report

import "time"

// An entry is something that happened.
type entry struct {
	at   time.Duration
	text string
	bad  bool
}

// A log is the first and the last things that happened, and how many there were between them.
type log struct {
	first, last []entry
	dropped     int
}

const maxEntries = 120 // of the first and of the last

func (l *log) add(e entry) {
	if len(l.first) < maxEntries {
		l.first = append(l.first, e)
		return
	}
	if len(l.last) == maxEntries {
		copy(l.last, l.last[1:])
		l.last = l.last[:maxEntries-1]
		l.dropped++
	}
	l.last = append(l.last, e)
}
