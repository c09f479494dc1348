package objectstore

import (
	"context"
	"maps"
	"slices"
	"time"
)

// abandonedAfter is how long nothing was uploaded to an upload whose journal is here when it is ended. Buckets have
// rules for the others.
const abandonedAfter = 7 * 24 * time.Hour

// sweepAbandoned ends, once, the uploads that this machine has begun in the bucket and given up: those whose journal is
// here, is that old by the clock which wrote it, and is not open. What cannot be ended is tried again by another run,
// and braid parts shows it.
func (s *Store) sweepAbandoned(ctx context.Context) {
	if s.options.Folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, abortTime)
	defer cancel()
	own := *s
	own.lease = nil // with one, a journal that is open would not be in the way
	all, _ := Journaled(s.options.Folder)
	for _, l := range all {
		if l.Endpoint == s.endpoint && l.Bucket == s.bucket && !l.InUse && time.Since(l.changed) > abandonedAfter {
			own.end(ctx, l)
		}
	}
}

// An earlier is what the store had of the key when an upload was opened. An earlier run whose journal is lost may have left it.
type earlier struct {
	uploads []string
	before  time.Time // when this one was opened, by the clock of the store
}

// findEarlier asks once which uploads of the key were opened before this one.
func (u *upload) findEarlier(ctx context.Context) (e earlier) {
	if u.store.lease != nil { // its owner ends what was before (TakeOver)
		return e
	}
	page, err := u.store.core.ListMultipartUploads(ctx, u.store.bucket, u.key, "", "", "", 1000)
	if err != nil { // it may not be asked
		return e
	}
	began := map[string]time.Time{}
	for _, l := range page.Uploads {
		if l.Key == u.key {
			began[l.UploadID] = l.Initiated
		}
	}
	e.before = began[u.heading.Upload]
	delete(began, u.heading.Upload)
	maps.DeleteFunc(began, func(_ string, at time.Time) bool { return at.After(e.before) })
	e.uploads = slices.Collect(maps.Keys(began))
	return e
}

// endEarlier ends those of them that have nothing but what this upload has, too, and got nothing since it was opened:
// the object is there, so they are of no use to any program. Others stay, and those whose parts have no SHA-256:
// another program has opened them.
func (u *upload) endEarlier(ctx context.Context) {
	for _, id := range u.earlier.uploads {
		listed, err := u.store.parts(ctx, u.key, id)
		if err != nil || len(listed) == 0 {
			continue
		}
		useless := true
		for n, is := range listed {
			useless = useless && is.ChecksumSHA256 != "" && u.parts[n].is(is) && !is.LastModified.After(u.earlier.before)
		}
		if useless {
			u.store.core.AbortMultipartUpload(ctx, u.store.bucket, u.key, id)
		}
	}
}
