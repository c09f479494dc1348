package watch

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"braid/antenna"
)

// A Report is what an update says to a process elsewhere that downloads its file.
type Report struct {
	// Name is the path of the file in the folder of its watch, with slashes.
	Name string
	// Version tells updates of a file apart: it is the same whenever the update is handed on, and another for another.
	Version string
	// Modified is when the file was modified, as far as a feed says so.
	Modified time.Time
}

// Report makes one of an update.
func (r *Rule) Report(u antenna.Update) (Report, error) {
	at, err := url.Parse(u.URL)
	if err != nil {
		return Report{}, err
	}
	rec, now := &u.Record, time.Now()
	x := Report{Version: fmt.Sprintf("%d %d %s", rec.LastModified, rec.Size, rec.MD5)}
	if rec.LastModified == 0 && rec.Size == 0 && rec.MD5 == "" {
		x.Version = fmt.Sprintf("at %d", cmp.Or(int64(cmp.Or(rec.Detected, rec.Received)), now.Unix()))
	}
	if rec.LastModified != 0 {
		x.Modified = rec.LastModified.UTC()
	}
	if seen := cmp.Or(rec.LastModified, rec.Detected, rec.Received); seen != 0 {
		now = seen.UTC()
	}
	x.Name, err = r.File.Name(subject{URL: at, Watch: u.Watch, At: now})
	return x, err
}
