package objectstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"braid/internal/fsys"
)

// A conditions finds out whether a store obeys If-None-Match. Many stores ignore it and overwrite the object.
type conditions struct {
	store *Store
	mu    sync.Mutex
	found bool // obeys is known
	obeys bool
}

// hold reports whether the store obeys conditions, and whether that is known. The first call tests the store with an
// object of one byte beside key. A positive result is remembered for a month.
func (c *conditions) hold(ctx context.Context, key string) (obeys, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.found {
		var err error
		c.obeys, err = c.find(ctx, key)
		c.found = err == nil
	}
	return c.obeys, c.found
}

// remembered is how long a positive result is valid.
const remembered = 30 * 24 * time.Hour

func (c *conditions) find(ctx context.Context, key string) (obeys bool, err error) {
	s := c.store
	if s.Endpoint() == amazon { // Amazon documents that its store obeys them
		return true, nil
	}
	file := c.file()
	if info, err := os.Stat(file); file != "" && err == nil && time.Since(info.ModTime()) < remembered {
		return true, nil
	}
	folder := key[:strings.LastIndexByte(key, '/')+1] + ".braid-probe-"
	if file != "" {
		host, _ := os.Hostname()
		sum := sha256.Sum256([]byte(host + "\n" + file))
		// Each run uses the same name, so it also removes the object of a run that was killed.
		obeys, err = c.ask(ctx, folder+hex.EncodeToString(sum[:8]))
	}
	if err == nil && !obeys { // another process may be using that name, too
		obeys, err = c.ask(ctx, folder+newToken())
	}
	switch {
	case err != nil:
		return false, err
	case obeys && file != "":
		if os.MkdirAll(s.options.Folder, 0o700) == nil {
			fsys.WriteFile(fsys.OS, file, nil, 0o600)
		}
	case !obeys:
		s.options.Note(s.endpoint + " ignores If-None-Match: before an object is created, " +
			"braid checks whether it exists, but two programs could still create it at the same moment")
	}
	return obeys, nil
}

// file returns the path of the file that records a positive result, or "" without a folder. A negative result is not
// recorded, so that each run shows a note.
func (c *conditions) file() string {
	if c.store.options.Folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.store.endpoint + "\n" + c.store.bucket))
	return filepath.Join(c.store.options.Folder, hex.EncodeToString(sum[:12])+".conditions")
}

// ask creates an object of one byte, and tests whether the store refuses to create it again. It tests both one request
// and a multipart upload.
func (c *conditions) ask(ctx context.Context, key string) (obeys bool, err error) {
	s := c.store
	// The last requests have their own time limit, because the store may not have answered the earlier ones in time.
	later := func(do func(after context.Context)) {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
		defer cancel()
		do(after)
	}
	// Not canceled with ctx: the store might create the object after its removal.
	put := func() error {
		err := ctx.Err()
		if err == nil {
			later(func(after context.Context) {
				o := minio.PutObjectOptions{DisableContentSha256: true}
				condition{}.options(&o)
				_, err = s.core.PutObject(after, s.bucket, key, strings.NewReader("?"), 1, "", "", o)
			})
		}
		return err
	}
	// also after an error: the store may have created the object although the request was canceled
	defer later(func(after context.Context) { s.core.RemoveObject(after, s.bucket, key, minio.RemoveObjectOptions{}) })
	if err := put(); err != nil && codeOf(err) != preconditioned {
		return false, unlessUnsupported(err)
	}
	if err := put(); codeOf(err) != preconditioned {
		return false, unlessUnsupported(err)
	}
	var upload string
	// Not canceled with ctx: if the response were lost, the upload would stay.
	later(func(after context.Context) {
		upload, err = s.core.NewMultipartUpload(after, s.bucket, key, minio.PutObjectOptions{})
	})
	if err != nil {
		return false, err
	}
	defer later(func(after context.Context) {
		s.core.AbortMultipartUpload(after, s.bucket, key, upload)
		left, _ := s.left(after, key) // also the uploads of a run that was killed
		for _, l := range left {
			s.core.AbortMultipartUpload(after, s.bucket, l.Key, l.Upload)
		}
	})
	part, err := s.core.PutObjectPart(ctx, s.bucket, key, upload, 1, strings.NewReader("?"), 1,
		minio.PutObjectPartOptions{DisableContentSha256: true})
	if err != nil {
		return false, err
	}
	var o minio.PutObjectOptions
	condition{}.options(&o)
	_, err = s.core.CompleteMultipartUpload(ctx, s.bucket, key, upload, []minio.CompletePart{{PartNumber: 1, ETag: part.ETag}}, o)
	if code := codeOf(err); code == preconditioned || code == conflict {
		return true, nil
	}
	return false, unlessUnsupported(err)
}

// unlessUnsupported returns nil if err means that the store does not support the condition in a request, and otherwise err.
func unlessUnsupported(err error) error {
	if r, ok := errors.AsType[minio.ErrorResponse](err); ok && r.StatusCode == http.StatusNotImplemented {
		return nil
	}
	return err
}
