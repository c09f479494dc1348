package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"

	"github.com/minio/minio-go/v7"

	"braid/download"
)

// valueSum is the metadata key for the SHA-256 of the content of an object that Amend made.
const valueSum = "braid-value-sha256"

// amend implements Store.Amend.
func amend(ctx context.Context, u *upload, limit int64, f func(data []byte) ([]byte, error)) error {
	s := u.store
	var failed error
	for range latestTries {
		c, old, err := valueOf(ctx, u, limit)
		if err != nil {
			return err
		}
		data, err := f(old)
		if err != nil || old != nil && bytes.Equal(old, data) {
			return err
		}
		sum := sha256.Sum256(data)
		o := minio.PutObjectOptions{ContentType: "application/json", DisableContentSha256: true}
		o.UserMetadata = map[string]string{valueSum: hex.EncodeToString(sum[:])}
		if failed = u.guard(ctx, c, &o); failed == nil {
			_, failed = s.core.PutObject(ctx, s.bucket, u.key, bytes.NewReader(data), int64(len(data)), "",
				hex.EncodeToString(sum[:]), o)
		}
		if code := codeOf(failed); code != preconditioned && code != conflict {
			break
		}
	}
	if failed == nil {
		return nil
	}
	return u.fault(ctx, failed)
}

// valueOf returns the content of an object that Amend made, and the condition for replacing it.
func valueOf(ctx context.Context, u *upload, limit int64) (c condition, data []byte, err error) {
	if info, err := u.head(ctx); err != nil || info == nil {
		return c, nil, err
	}
	body, info, _, err := u.store.core.GetObject(ctx, u.store.bucket, u.key, minio.GetObjectOptions{})
	if err == nil {
		defer body.Close()
		data, err = io.ReadAll(io.LimitReader(body, limit+1))
	}
	if err != nil {
		return c, nil, u.fault(ctx, err)
	}
	sum := sha256.Sum256(data)
	if info.UserMetadata[http.CanonicalHeaderKey(valueSum)] != hex.EncodeToString(sum[:]) {
		return c, nil, &download.Error{Kind: download.Local, What: "store", Where: u.path(),
			Err:  errors.New("this object is damaged or was written by another program, so it is not replaced"),
			Hint: "delete the object; the next version creates it again"}
	}
	return condition{info.ETag}, data, nil
}

// remove implements Store.Remove. It reads the object immediately before it removes it, because some stores ignore If-Match.
func remove(ctx context.Context, u *upload, is func(*download.Existing) bool) error {
	if l := u.store.lease; l != nil {
		if err := l.Confirm(ctx); err != nil {
			return err
		}
	}
	e, err := u.Existing(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !is(e) {
		return err
	}
	if removed, err := removeAs(ctx, u, u.existing.ETag); !removed {
		return err
	}
	beside := newUpload(u.store, u.key+evidenceEnding)
	c, evidence, err := beside.evidenceOf(ctx, u.path())
	if err != nil || c.match == "" || evidence.Upload != "" && evidence.Upload != tokenOf(u.existing) {
		return err
	}
	_, err = removeAs(ctx, beside, c.match)
	return err
}

// removeAs removes the object if its ETag is tag. removed reports that the object does not exist any more. It is false
// if the object was replaced.
func removeAs(ctx context.Context, u *upload, tag string) (removed bool, err error) {
	with := context.WithValue(ctx, ifMatch{}, `"`+tag+`"`)
	err = u.store.core.RemoveObject(with, u.store.bucket, u.key, minio.RemoveObjectOptions{})
	switch codeOf(err) {
	case preconditioned, conflict:
		return false, nil
	case noSuchKey:
		return true, nil
	}
	if err != nil {
		return false, u.fault(ctx, err)
	}
	return true, nil
}
