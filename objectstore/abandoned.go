package objectstore

import (
	"context"
	"maps"
	"slices"
	"time"
)

// abandonedAfter is how long an upload with a journal on this machine may make no progress until it is aborted. Other
// uploads are aborted according to the rules of the bucket.
const abandonedAfter = 7 * 24 * time.Hour

// sweepAbandoned aborts, once per Store, the uploads to the bucket that this machine has begun and given up. These have
// a journal in Folder that is older than abandonedAfter and not in use. If an upload cannot be aborted, a later run
// tries again, and braid parts lists the upload.
func (s *Store) sweepAbandoned(ctx context.Context) {
	if s.options.Folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, abortTime)
	defer cancel()
	own := *s
	own.lease = nil // with a lease, end would ignore that another process uses a journal
	all, _ := Journaled(s.options.Folder)
	for _, l := range all {
		if l.Endpoint == s.endpoint && l.Bucket == s.bucket && !l.InUse && time.Since(l.changed) > abandonedAfter {
			own.end(ctx, l)
		}
	}
}

// An earlier has the other uploads of the same key that were in progress when this upload was opened. Earlier runs that
// lost their journals may have left them.
type earlier struct {
	uploads []string
	before  time.Time // when this upload was opened, by the clock of the store
}

// findEarlier returns the uploads of the same key that were opened before u.
func (u *upload) findEarlier(ctx context.Context) (e earlier) {
	if u.store.lease != nil { // TakeOver aborts them for the holder of the lease
		return e
	}
	page, err := u.store.core.ListMultipartUploads(ctx, u.store.bucket, u.key, "", "", "", 1000)
	if err != nil { // listing may be forbidden
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

// endEarlier aborts earlier uploads that are useless now, because u is complete: they contain only parts of u, and have
// received none since u was opened. An upload that has a part without SHA-256 is from another program, and stays.
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
