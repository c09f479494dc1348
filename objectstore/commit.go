package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"

	"braid/download"
	"braid/verify"
)

// Commit implements download.Upload.
func (u *upload) Commit(ctx context.Context, f download.UploadFinal) error {
	evidence := newEvidence(u.path(), u.heading, f)
	var token string
	var err error
	if u.heading.Upload == "" {
		token, err = u.commitSmall(ctx, f)
	} else {
		token, err = u.complete(ctx, f, evidence)
	}
	if err != nil {
		return err
	}
	evidence.Upload = token
	u.putEvidence(ctx, evidence, true)
	u.endEarlier(ctx)
	u.store.swept.Do(func() { u.store.sweepAbandoned(ctx) })
	if u.journal == nil {
		return nil
	}
	defer func() { u.journal = nil }()
	return errors.Join(u.journal.Clear(), u.journal.Close())
}

// A condition is the condition of a request that creates an object.
type condition struct {
	match string // ETag of the object to replace; "" if no object may exist
}

func (c condition) options(o *minio.PutObjectOptions) {
	if c.match != "" {
		o.SetMatchETag(c.match)
		return
	}
	o.SetMatchETagExcept("*")
}

func (u *upload) condition(replace bool) condition {
	if replace && u.existing != nil {
		return condition{u.existing.ETag}
	}
	return condition{}
}

// guard prepares o, a request that creates the object: it confirms the lease and adds the condition c. If the store may
// ignore conditions, guard checks c itself. If c does not hold, guard returns the response that the store should have
// sent, as an error.
func (u *upload) guard(ctx context.Context, c condition, o *minio.PutObjectOptions) error {
	obeys, known := u.store.probed.hold(ctx, u.key)
	if l := u.store.lease; l != nil {
		if err := l.Confirm(ctx); err != nil {
			return err
		}
	}
	if obeys || !known {
		c.options(o)
	}
	if obeys {
		return nil
	}
	info, err := u.head(ctx)
	switch {
	case err != nil:
		return err
	case info == nil && c.match == "", info != nil && info.ETag == c.match:
		return nil
	}
	return minio.ErrorResponse{StatusCode: http.StatusPreconditionFailed}
}

// inTheWay returns the error for an object that makes c false: it exists, or it is not the one to replace.
func (u *upload) inTheWay(c condition) error {
	if c.match == "" {
		return fmt.Errorf("%s: %w", u.path(), fs.ErrExist)
	}
	return &download.Error{Kind: download.Local, What: "store", Where: u.path(),
		Err: errors.New("the object to be replaced was changed meanwhile"), Hint: hintAgain}
}

// commitSmall creates the object of a file that has at most one part. It returns the token of the object.
func (u *upload) commitSmall(ctx context.Context, f download.UploadFinal) (token string, err error) {
	body := io.NewSectionReader(bytes.NewReader(nil), 0, 0)
	if u.small != nil {
		body = u.small.Bytes
	}
	if body.Size() != f.Result.Proof.Size() {
		return "", fmt.Errorf("%s: %d bytes were stored, but %d are proven", u.path(), body.Size(), f.Result.Proof.Size())
	}
	h := heading{Token: newToken(), URL: f.URL}
	var known []verify.Claim
	for _, d := range f.Result.Proof.Digests() {
		known = append(known, verify.Claim{Digest: d})
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return "", err
	}
	o := minio.PutObjectOptions{UserMetadata: u.store.metadata(h, known), DisableContentSha256: true}
	o.UserMetadata["x-amz-checksum-sha256"] = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	c := u.condition(f.Replace)
	if err = u.guard(ctx, c, &o); err == nil {
		_, err = u.store.core.PutObject(ctx, u.store.bucket, u.key, body, body.Size(), "", hex.EncodeToString(sum.Sum(nil)), o)
	} else if codeOf(err) != preconditioned {
		return "", err
	}
	return u.settle(ctx, c, h.Token, f.Result.Proof, err)
}

// conflicts is how often Complete is sent while the store answers that another request for the object is in progress (409).
const conflicts = 5

// complete creates the object from the uploaded parts. It returns the token of the object.
func (u *upload) complete(ctx context.Context, f download.UploadFinal, evidence Evidence) (token string, err error) {
	parts, err := u.sent()
	if err != nil {
		return "", err
	}
	if size := u.size(); size != f.Result.Proof.Size() {
		return "", fmt.Errorf("%s: %d bytes were uploaded, but %d are proven", u.path(), size, f.Result.Proof.Size())
	}
	data, err := json.Marshal(evidence)
	if err != nil {
		return "", err
	}
	if err := appendLine(u.journal, entry{Number: -1, Evidence: data}); err != nil {
		return "", err
	}
	c := u.condition(f.Replace)
	for try := 1; ; try++ {
		var o minio.PutObjectOptions
		if err = u.guard(ctx, c, &o); err == nil {
			_, err = u.store.core.CompleteMultipartUpload(ctx, u.store.bucket, u.key, u.heading.Upload, parts, o)
		} else if codeOf(err) != preconditioned {
			return "", err
		}
		if codeOf(err) != conflict || try == conflicts {
			return u.settle(ctx, c, u.heading.Token, f.Result.Proof, err)
		}
		select {
		case <-time.After(time.Duration(try) * 200 * time.Millisecond):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// size returns the total size of the uploaded parts in bytes.
func (u *upload) size() (size int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.parts {
		size += e.Size
	}
	return size
}

// settle returns the token of the object after a request to create it. failed is the error of that request, or nil. A
// failed request may have created the object: its response was lost, or the request was sent again. An earlier attempt
// at the same job may have created the object, too. In these cases, settle compares the metadata of the object.
func (u *upload) settle(ctx context.Context, c condition, token string, p verify.Proof, failed error) (string, error) {
	if failed == nil {
		return token, nil
	}
	if info, err := u.head(ctx); err == nil && info != nil {
		switch {
		case tokenOf(info) == token:
			return token, nil
		case u.store.ours(info) && isOf(info, p):
			if u.heading.Upload != "" {
				u.abort(u.heading.Upload)
			}
			return tokenOf(info), u.store.lease.Confirm(ctx)
		}
	}
	switch code := codeOf(failed); code {
	case preconditioned, conflict:
		return "", u.inTheWay(c)
	case noSuchUpload, "InvalidPart", "InvalidPartOrder":
		return "", u.store.lost(u.key)
	case noSuchKey: // the response to If-Match without an object
		return "", u.inTheWay(c)
	}
	return "", u.fault(ctx, failed)
}

// isOf reports whether the metadata of the object fit the proof p.
func isOf(info *minio.ObjectInfo, p verify.Proof) bool {
	return info.Size == p.Size() && slices.ContainsFunc(p.Digests(), func(d verify.Digest) bool {
		return d.Algorithm() == verify.SHA256 && d.Hex() == info.UserMetadata["Braid-Sha256"]
	})
}
