package watch

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
)

// Report describes an update to another process that downloads its file.
type Report struct {
	// Name is the path of the file in the folder of its watch, with slashes.
	Name string
	// Version identifies the update among the updates of the file. An update that is delivered again has the same
	// Version.
	Version string
	// Modified is the modification time of the file, if a feed reported it.
	Modified time.Time
}

// Report returns the report about an update.
func (r *Rule) Report(u antenna.Update) (Report, error) {
	at, err := url.Parse(u.URL)
	if err != nil {
		return Report{}, err
	}
	rec, now := &u.Record, time.Now()
	x := Report{Version: fmt.Sprintf("%d %d %s", rec.LastModified, rec.Size, rec.MD5)}
	if rec.LastModified == 0 && rec.Size == 0 && rec.MD5 == "" {
		x.Version = fmt.Sprintf("at %d", cmp.Or(int64(cmp.Or(rec.Detected, rec.Received)), now.Unix()))
		if isOtherVersion(&u) && !r.Releases.Moving { // a version that is reported again stays the same
			x.Version = "release " + u.Release.Version
		}
	}
	if u.Action == feed.Recheck { // may be requested again for the same values, for example by the user
		x.Version += fmt.Sprint(" ", u.Last.At.Unix())
	}
	if rec.LastModified != 0 && u.Reason != antenna.AskedFor {
		x.Modified = rec.LastModified.UTC()
	}
	if seen := cmp.Or(rec.LastModified, rec.Detected, rec.Received); seen != 0 {
		now = seen.UTC()
	}
	x.Name, err = r.nameOf(&u, subject{URL: at, At: now})
	return x, err
}
