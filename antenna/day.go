package antenna

import "time"

// A dayCount counts what something cost in one day, UTC.
type dayCount struct {
	// Number is the day, from 1970-01-01.
	Number int64
	// Updates are those that succeeded or are at work, Failed the tries that did not succeed.
	Updates, Failed int
	Bytes           int64
}

const secondsPerDay = 24 * 60 * 60

// at returns d if it is the day of now, and else a new one.
func (d dayCount) at(now time.Time) dayCount {
	if n := now.Unix() / secondsPerDay; n != d.Number {
		return dayCount{Number: n}
	}
	return d
}

// end is when the day is over.
func (d dayCount) end() time.Time { return time.Unix((d.Number+1)*secondsPerDay, 0) }

// left reports whether there may be a further update, and how many bytes it may bring. A negative limit means that
// there is no limit; 0 bytes with ok stands for that.
func (d dayCount) left(updates int, bytes int64) (left int64, ok bool) {
	if updates >= 0 && d.Updates >= updates || bytes >= 0 && d.Bytes >= bytes {
		return 0, false
	}
	if bytes < 0 {
		return 0, true
	}
	return bytes - d.Bytes, true
}
