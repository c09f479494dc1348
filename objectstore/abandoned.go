package objectstore

import (
	"context"
	"maps"
	"slices"
	"time"
)

// abandonedAfter is the time without progress after which an upload with a journal on this machine is aborted. Other
// uploads are left to the rules of the bucket.
const abandonedAfter = 7 * 24 * time.Hour

// sweepAbandoned aborts, once per Store, the uploads to the bucket that this machine began and gave up. These have a
// journal in Folder that is older than abandonedAfter and not in use. If an abort fails, a later run tries again, and
// the command braid parts lists the upload.
func (s *Store) sweepAbandoned(ctx context.Context) {
	if s.options.Folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, abortTime)
	defer cancel()
	own := *s
	own.lease = nil // with a lease, end would ignore that a journal is in use
	all, _ := Journaled(s.options.Folder)
	for _, l := range all {
		if l.Endpoint == s.endpoint && l.Bucket == s.bucket && !l.InUse && time.Since(l.changed) > abandonedAfter {
			own.end(ctx, l)
		}
	}
}

// An earlier holds the other uploads of the key that were open when this upload was opened. An earlier run that lost
// its journal may have left them.
type earlier struct {
	uploads []string
	before  time.Time // when this upload was opened, by the store's clock
}

// findEarlier returns the uploads of the key that were opened before u.
func (u *upload) findEarlier(ctx context.Context) (e earlier) {
	if u.store.lease != nil { // the owner of the lease aborts earlier uploads (TakeOver)
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

// endEarlier aborts the earlier uploads that contain only parts of u and got no part since u was opened. The object is
// complete, so these uploads are of no use. An upload with a part without SHA-256 is from another program and stays.
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
