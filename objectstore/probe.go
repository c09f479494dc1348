package objectstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"crypto/sha256"
	"encoding/hex"

	"github.com/minio/minio-go/v7"

	"braid/internal/fsys"
)

// conditions say whether a store obeys If-None-Match. Many ignore it, and take what they should refuse.
type conditions struct {
	store *Store
	once  sync.Once
	obeys bool
}

func newConditions(s *Store) *conditions { return &conditions{store: s} }

// hold reports whether the store obeys conditions. It is found out with an object of one byte beside key, once, and remembered for a month.
func (c *conditions) hold(ctx context.Context, key string) bool {
	c.once.Do(func() { c.obeys = c.find(ctx, key) })
	return c.obeys
}

// remembered is how long the answer counts.
const remembered = 30 * 24 * time.Hour

func (c *conditions) find(ctx context.Context, key string) bool {
	s := c.store
	if strings.HasSuffix(s.endpoint, ".amazonaws.com") { // it documents them
		return true
	}
	file := c.file()
	if info, err := os.Stat(file); file != "" && err == nil && time.Since(info.ModTime()) < remembered {
		return true
	}
	obeys, err := c.ask(ctx, key[:strings.LastIndexByte(key, '/')+1]+".braid-probe-"+newToken())
	switch {
	case err != nil: // the request that follows says so better
		return true
	case obeys && file != "":
		if os.MkdirAll(s.options.Folder, 0o700) == nil {
			fsys.WriteFile(fsys.OS, file, nil, 0o600)
		}
	case !obeys:
		s.options.Note(s.endpoint + " ignores If-None-Match: right before an object is made it is asked whether there is one, which leaves a moment in which two programs can make the same one")
	}
	return obeys
}

// file is where a good answer is remembered; a bad one is told each time.
func (c *conditions) file() string {
	if c.store.options.Folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.store.endpoint + "\n" + c.store.bucket))
	return filepath.Join(c.store.options.Folder, hex.EncodeToString(sum[:12])+".conditions")
}

// ask makes an object of one byte, and tries to make it once more as if there were none: in one request and by an upload of parts.
func (c *conditions) ask(ctx context.Context, key string) (obeys bool, err error) {
	s := c.store
	put := func() error {
		o := minio.PutObjectOptions{DisableContentSha256: true}
		condition{}.options(&o)
		_, err := s.core.PutObject(ctx, s.bucket, key, strings.NewReader("?"), 1, "", "", o)
		return err
	}
	if err := put(); err != nil {
		return false, err
	}
	defer s.core.RemoveObject(context.WithoutCancel(ctx), s.bucket, key, minio.RemoveObjectOptions{})
	if err := put(); codeOf(err) != preconditioned {
		return false, err
	}
	upload, err := s.core.NewMultipartUpload(ctx, s.bucket, key, minio.PutObjectOptions{})
	if err != nil {
		return false, err
	}
	defer s.core.AbortMultipartUpload(context.WithoutCancel(ctx), s.bucket, key, upload)
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
	return false, err
}
