package objectstore

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/minio/minio-go/v7"

	"braid/download"
)

// Existing implements download.Upload.
func (u *upload) Existing(ctx context.Context) (*download.Existing, error) {
	info, err := u.head(ctx)
	if err == nil && info == nil {
		info, err = u.beingMade(ctx)
	}
	if err != nil || info == nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	u.existing = info
	u.finish(ctx, *info)
	return &download.Existing{Size: info.Size, ModTime: info.LastModified,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return u.read(ctx, *info) }}, nil
}

// makingTime is how long to wait for an object that the store is still assembling.
const makingTime = 20 * time.Second

// beingMade waits for the object of a run that was killed during Complete. The store continues to assemble that object.
// For a while, it has neither all parts nor the object. No other upload must begin in that time.
func (u *upload) beingMade(ctx context.Context) (info *minio.ObjectInfo, err error) {
	if u.open() != nil { // another process uses the journal
		return nil, nil
	}
	r, err := u.record()
	u.journal.Close()
	u.journal = nil
	if err != nil || r.none() || r.evidence == nil { // Resume handles the other states of the journal
		return nil, nil
	}
	late := time.Now().Add(makingTime)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		listed, err := u.store.parts(ctx, u.key, r.heading.Upload)
		if len(listed) == len(r.parts) || err != nil && codeOf(err) != noSuchUpload {
			return nil, nil
		}
		if info, err = u.head(ctx); info != nil || err != nil || time.Now().After(late) {
			return info, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// head returns the metadata of the object, or nil if it does not exist.
func (u *upload) head(ctx context.Context) (*minio.ObjectInfo, error) {
	if err := u.checkKey(); err != nil {
		return nil, err
	}
	info, err := u.store.core.StatObject(ctx, u.store.bucket, u.key, minio.StatObjectOptions{})
	if err == nil {
		u.store.there.Store(true)
		return &info, nil
	}
	if codeOf(err) == noSuchKey && u.store.there.Load() {
		return nil, nil
	}
	// A response to HEAD has no body, which would state the reason. The bucket may be missing.
	body, _, _, reason := u.store.core.GetObject(ctx, u.store.bucket, u.key, minio.GetObjectOptions{})
	if reason == nil {
		body.Close()
	} else if codeOf(reason) != "" {
		u.store.there.Store(codeOf(reason) == noSuchKey)
		err = reason
	}
	if codeOf(err) == noSuchKey {
		return nil, nil
	}
	return nil, u.fault(ctx, err)
}

// read opens the object. It returns an error if the object has changed since info was read.
func (u *upload) read(ctx context.Context, info minio.ObjectInfo) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	o.SetMatchETag(info.ETag)
	body, _, _, err := u.store.core.GetObject(ctx, u.store.bucket, u.key, o)
	if err != nil {
		return nil, u.fault(ctx, err)
	}
	return &reader{body, ctx, u, info.Size}, nil
}

// A reader reads an object. It converts errors with upload.fault.
type reader struct {
	io.ReadCloser
	ctx  context.Context
	u    *upload
	left int64
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.left -= int64(n)
	switch {
	case err == io.EOF && r.left == 0 || err == nil:
		return n, err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, r.u.fault(r.ctx, err)
}
