package objectstore

import (
	"braid/download"
	"context"
	"io"
	"io/fs"

	"github.com/minio/minio-go/v7"
)

// Existing implements download.Upload.
func (u *upload) Existing(ctx context.Context) (*download.Existing, error) {
	info, err := u.head(ctx)
	if err != nil || info == nil {
		return nil, either(err, fs.ErrNotExist)
	}
	u.existing = info
	u.finish(ctx, *info)
	return &download.Existing{Size: info.Size, ModTime: info.LastModified, Open: func(ctx context.Context) (io.ReadCloser, error) { return u.read(ctx, *info) }}, nil
}

func either(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// head looks for the object; it is nil if there is none.
func (u *upload) head(ctx context.Context) (*minio.ObjectInfo, error) {
	info, err := u.store.core.StatObject(ctx, u.store.bucket, u.key, minio.StatObjectOptions{})
	switch codeOf(err) {
	case noSuchKey:
		return nil, nil
	case "":
		if err == nil {
			return &info, nil
		}
	}
	return nil, u.fault(ctx, err)
}

// read reads an object of which nothing must change meanwhile.
func (u *upload) read(ctx context.Context, info minio.ObjectInfo) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	o.SetMatchETag(info.ETag)
	body, _, _, err := u.store.core.GetObject(ctx, u.store.bucket, u.key, o)
	if err != nil {
		return nil, u.fault(ctx, err)
	}
	return &reader{body, ctx, u, info.Size}, nil
}

// A reader reads an object, and gives errors as those of the store.
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
