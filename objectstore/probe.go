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

// conditions say whether a store obeys If-None-Match. Many ignore it, and take what they should refuse.
type conditions struct {
	store *Store
	mu    sync.Mutex
	found bool // obeys is known
	obeys bool
}

// hold reports whether the store obeys conditions, and whether that is known. It is found out with an object of one
// byte beside key, once, and remembered for a month.
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

// remembered is how long a good answer counts.
const remembered = 30 * 24 * time.Hour

func (c *conditions) find(ctx context.Context, key string) (obeys bool, err error) {
	s := c.store
	if strings.HasSuffix(s.endpoint, ".amazonaws.com") { // it documents them
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
		obeys, err = c.ask(ctx, folder+hex.EncodeToString(sum[:8])) // which a run that was killed here has used, too
	}
	if err == nil && !obeys { // another process may be at the same
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
		s.options.Note(s.endpoint + " ignores If-None-Match: right before an object is made it is asked whether there is one, which leaves a moment in which two programs can make the same one")
	}
	return obeys, nil
}

// file is where a good answer is remembered; a bad one is found out, and noted, each time. It is "" without a folder.
func (c *conditions) file() string {
	if c.store.options.Folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.store.endpoint + "\n" + c.store.bucket))
	return filepath.Join(c.store.options.Folder, hex.EncodeToString(sum[:12])+".conditions")
}

// ask makes an object of one byte, and tries to make it once more as if there were none: in one request and by an
// upload of parts.
func (c *conditions) ask(ctx context.Context, key string) (obeys bool, err error) {
	s := c.store
	put := func() error {
		o := minio.PutObjectOptions{DisableContentSha256: true}
		condition{}.options(&o)
		_, err := s.core.PutObject(ctx, s.bucket, key, strings.NewReader("?"), 1, "", "", o)
		return err
	}
	if err := put(); err != nil && codeOf(err) != preconditioned {
		return false, unlessUnsupported(err)
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	defer s.core.RemoveObject(after, s.bucket, key, minio.RemoveObjectOptions{})
	if err := put(); codeOf(err) != preconditioned {
		return false, unlessUnsupported(err)
	}
	// An upload whose answer is not awaited would stay: so this question is not given up with ctx.
	upload, err := s.core.NewMultipartUpload(after, s.bucket, key, minio.PutObjectOptions{})
	if err != nil {
		return false, err
	}
	defer func() {
		s.core.AbortMultipartUpload(after, s.bucket, key, upload)
		left, _ := s.left(after, key) // of a run that was killed
		for _, l := range left {
			s.core.AbortMultipartUpload(after, s.bucket, l.Key, l.Upload)
		}
	}()
	part, err := s.core.PutObjectPart(ctx, s.bucket, key, upload, 1, strings.NewReader("?"), 1, minio.PutObjectPartOptions{DisableContentSha256: true})
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

// unlessUnsupported returns err, but nil if the store refused the request for its condition.
func unlessUnsupported(err error) error {
	if r, ok := errors.AsType[minio.ErrorResponse](err); ok && r.StatusCode == http.StatusNotImplemented {
		return nil
	}
	return err
}
