package antenna

import "time"

// A dayCount counts the cost of a feed in one day (UTC).
type dayCount struct {
	// Number is the number of days since 1970-01-01.
	Number int64
	// Updates counts updates that succeeded or are running. Failed counts failed attempts.
	Updates, Failed int
	Bytes           int64
}

const secondsPerDay = 24 * 60 * 60

// at returns d if now is on the day of d, else an empty count for the day of now.
func (d dayCount) at(now time.Time) dayCount {
	if n := now.Unix() / secondsPerDay; n != d.Number {
		return dayCount{Number: n}
	}
	return d
}

func (d dayCount) end() time.Time { return time.Unix((d.Number+1)*secondsPerDay, 0) }

// left returns how many bytes another update may transfer, and whether another update is allowed. A negative limit
// means no limit. If ok is true, a left of 0 means no limit.
func (d dayCount) left(updates int, bytes int64) (left int64, ok bool) {
	if updates >= 0 && d.Updates >= updates || bytes >= 0 && d.Bytes >= bytes {
		return 0, false
	}
	if bytes < 0 {
		return 0, true
	}
	return bytes - d.Bytes, true
}
