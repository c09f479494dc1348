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

// evidenceEnding is that of the object beside a file which says what the file was proven by.
const evidenceEnding = ".evidence.json"

// Evidence is what the object NAME.evidence.json says of NAME.
type Evidence struct {
	Object       string            `json:"object"`
	URL          string            `json:"url"` // masked
	Size         int64             `json:"size"`
	Digests      map[string]string `json:"digests"` // by name, in hexadecimal digits
	Verified     bool              `json:"verified"`
	By           string            `json:"by"`
	Claims       []string          `json:"claims,omitempty"`
	Signatures   []Signer          `json:"signatures,omitempty"`
	Host         string            `json:"host,omitempty"` // that gave the validators
	ETag         string            `json:"etag,omitempty"`
	LastModified time.Time         `json:"last_modified,omitzero"`
	Sources      []Source          `json:"sources,omitempty"`
	Began        time.Time         `json:"began,omitzero"`
	Ended        time.Time         `json:"ended"`
}

// A Signer made a signature that is good.
type Signer struct {
	Kind string    `json:"kind"`
	Key  string    `json:"key"`
	Name string    `json:"name,omitempty"`
	Time time.Time `json:"time,omitzero"`
	From string    `json:"from,omitempty"`
}

// A Source brought bytes in the last run.
type Source struct {
	URL   string `json:"url"` // masked
	Host  string `json:"host,omitempty"`
	Bytes int64  `json:"bytes"`
}

func newEvidence(object string, began time.Time, f download.UploadFinal) Evidence {
	r, p := f.Result, f.Result.Proof
	e := Evidence{
		Object: object, URL: f.URL, Size: p.Size(), Digests: map[string]string{}, Verified: p.Verified(), By: p.String(),
		Host: r.Host, ETag: r.ETag, LastModified: r.LastModified.UTC(), Began: began, Ended: time.Now().UTC().Truncate(time.Second),
	}
	for _, d := range p.Digests() {
		e.Digests[d.Algorithm().String()] = d.Hex()
	}
	for _, c := range p.Evidence() {
		e.Claims = append(e.Claims, c.String())
	}
	for _, s := range p.Signatures() {
		e.Signatures = append(e.Signatures, Signer{s.Kind.String(), s.Key, s.Signer, s.Time.UTC(), s.From})
	}
	for _, s := range r.Sources {
		if s.Bytes > 0 {
			e.Sources = append(e.Sources, Source{s.URL, s.Host, s.Bytes})
		}
	}
	return e
}

// Commit implements download.Upload.
func (u *upload) Commit(ctx context.Context, f download.UploadFinal) error {
	evidence, err := json.MarshalIndent(newEvidence(u.path(), u.heading.Began, f), "", "  ")
	if err != nil {
		return err
	}
	if u.heading.Upload == "" {
		err = u.commitSmall(ctx, f)
	} else {
		err = u.complete(ctx, f, evidence)
	}
	if err != nil {
		return err
	}
	u.putEvidence(ctx, evidence)
	u.endEarlier(ctx)
	u.store.swept.Do(func() { u.store.sweepAbandoned(ctx) })
	if u.journal == nil {
		return nil
	}
	defer func() { u.journal = nil }()
	return errors.Join(u.journal.Clear(), u.journal.Close())
}

// A condition says under which an object may be made.
type condition struct {
	match string // the ETag of the one that is replaced; "" if there must be none
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

// guard prepares a request that makes the object: the lease must allow it, and it gets its condition. A store that is not known to obey conditions is
// asked what is there, too; then the error is the answer that it should have given.
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

// inTheWay is the error of an object that is there, or is another one than was to be replaced.
func (u *upload) inTheWay(c condition) error {
	if c.match == "" {
		return fmt.Errorf("%s: %w", u.path(), fs.ErrExist)
	}
	return &download.Error{Kind: download.Local, What: "store", Where: u.path(), Err: errors.New("the object that was to be replaced was changed meanwhile"), Hint: hintAgain}
}

// commitSmall makes the object of a file of one part, or of none.
func (u *upload) commitSmall(ctx context.Context, f download.UploadFinal) error {
	body := io.NewSectionReader(bytes.NewReader(nil), 0, 0)
	if u.small != nil {
		body = u.small.Bytes
	}
	if body.Size() != f.Result.Proof.Size() {
		return fmt.Errorf("%s: %d bytes were put, and %d are proven", u.path(), body.Size(), f.Result.Proof.Size())
	}
	h := heading{Token: newToken(), URL: f.URL}
	var known []verify.Claim
	for _, d := range f.Result.Proof.Digests() {
		known = append(known, verify.Claim{Digest: d})
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return err
	}
	o := minio.PutObjectOptions{UserMetadata: u.store.metadata(h, known), DisableContentSha256: true}
	o.UserMetadata["x-amz-checksum-sha256"] = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	c := u.condition(f.Replace)
	err := u.guard(ctx, c, &o)
	if err == nil {
		_, err = u.store.core.PutObject(ctx, u.store.bucket, u.key, body, body.Size(), "", hex.EncodeToString(sum.Sum(nil)), o)
	} else if codeOf(err) != preconditioned {
		return err
	}
	return u.settle(ctx, c, h.Token, f.Result.Proof, err)
}

// conflicts is how often Complete is tried where the store says that another request was under way (409).
const conflicts = 5

// complete makes the object of the parts.
func (u *upload) complete(ctx context.Context, f download.UploadFinal, evidence []byte) error {
	parts, err := u.sent()
	if err != nil {
		return err
	}
	if size := u.size(); size != f.Result.Proof.Size() {
		return fmt.Errorf("%s: %d bytes were uploaded, and %d are proven", u.path(), size, f.Result.Proof.Size())
	}
	if err := appendLine(u.journal, entry{Number: -1, Evidence: compact(evidence)}); err != nil {
		return err
	}
	c := u.condition(f.Replace)
	for try := 1; ; try++ {
		var o minio.PutObjectOptions
		if err = u.guard(ctx, c, &o); err == nil {
			_, err = u.store.core.CompleteMultipartUpload(ctx, u.store.bucket, u.key, u.heading.Upload, parts, o)
		} else if codeOf(err) != preconditioned {
			return err
		}
		if codeOf(err) != conflict || try == conflicts {
			return u.settle(ctx, c, u.heading.Token, f.Result.Proof, err)
		}
		select {
		case <-time.After(time.Duration(try) * 200 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func compact(data []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return []byte("null")
	}
	return b.Bytes()
}

// size is how many bytes the parts have.
func (u *upload) size() (size int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.parts {
		size += e.Size
	}
	return size
}

// settle returns the result of a request that makes the object. After an error the object may be there all the same: the answer was lost, it was
// the answer to a repeated request, or an earlier try of the job, which is late, has made the object. The metadata tell.
func (u *upload) settle(ctx context.Context, c condition, token string, p verify.Proof, failed error) error {
	if failed == nil {
		return nil
	}
	if info, err := u.head(ctx); err == nil && info != nil {
		switch {
		case info.UserMetadata["Braid-Upload"] == token:
			return nil
		case u.store.ours(info) && isOf(info, p):
			if u.heading.Upload != "" {
				u.abort(u.heading.Upload)
			}
			return u.store.lease.Confirm(ctx) // the evidence is that of the worker which has the job
		}
	}
	switch code := codeOf(failed); code {
	case preconditioned, conflict:
		return u.inTheWay(c)
	case noSuchUpload, "InvalidPart", "InvalidPartOrder":
		return u.store.lost(u.key)
	case noSuchKey: // of If-Match
		return u.inTheWay(c)
	}
	return u.fault(ctx, failed)
}

// isOf reports whether an object says that it is what is proven.
func isOf(info *minio.ObjectInfo, p verify.Proof) bool {
	return info.Size == p.Size() && slices.ContainsFunc(p.Digests(), func(d verify.Digest) bool {
		return d.Algorithm() == verify.SHA256 && d.Hex() == info.UserMetadata["Braid-Sha256"]
	})
}

// putEvidence puts the evidence beside the object, which is there. Another object of that name stays. That it cannot is told.
func (u *upload) putEvidence(ctx context.Context, data []byte) {
	beside := newUpload(u.store, u.key+evidenceEnding)
	obeys, _ := u.store.probed.hold(ctx, u.key)
	var c condition
	err := error(minio.ErrorResponse{StatusCode: http.StatusPreconditionFailed})
	if obeys && u.existing == nil { // most often a new object has no earlier evidence
		err = beside.putJSON(ctx, data, &c)
	}
	if code := codeOf(err); code == preconditioned || code == conflict {
		if c, err = beside.evidenceOf(ctx, u.path()); err == nil && obeys {
			err = beside.putJSON(ctx, data, &c)
		} else if err == nil {
			err = beside.putJSON(ctx, data, nil)
		}
	}
	if err != nil {
		u.store.options.Note(fmt.Sprintf("%s is in place, and its evidence could not be put beside it: %v", u.path(), beside.fault(ctx, err)))
	}
}

func (u *upload) putJSON(ctx context.Context, data []byte, c *condition) error {
	o := minio.PutObjectOptions{ContentType: "application/json", DisableContentSha256: true}
	if c != nil {
		c.options(&o)
	}
	sum := sha256.Sum256(data)
	_, err := u.store.core.PutObject(ctx, u.store.bucket, u.key, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]), o)
	return err
}

// mostEvidence is how long evidence may be.
const mostEvidence = 4 << 20

// evidenceOf is the condition under which the evidence of an object may be put: nothing has that name, or earlier evidence has it and is replaced.
func (u *upload) evidenceOf(ctx context.Context, object string) (c condition, err error) {
	info, err := u.head(ctx)
	if err != nil || info == nil {
		return c, err
	}
	body, err := u.read(ctx, *info)
	if err != nil {
		return c, err
	}
	defer body.Close()
	var e Evidence
	if json.NewDecoder(io.LimitReader(body, mostEvidence)).Decode(&e) != nil || e.Object != object {
		return c, &download.Error{Kind: download.Local, What: "store", Where: u.path(), Err: errors.New("another object has its name")}
	}
	return condition{info.ETag}, nil
}

// finish ends what a run left that was killed after Complete, if the object is of its upload: it puts the evidence, and clears the journal.
func (u *upload) finish(ctx context.Context, info minio.ObjectInfo) {
	token := info.UserMetadata["Braid-Upload"]
	if token == "" || u.open() != nil { // another process is at it
		return
	}
	if r, err := readRecord(u.journal); err == nil && r.heading.Token == token {
		if r.evidence != nil {
			u.putEvidence(ctx, r.evidence)
		}
		u.journal.Clear()
	}
	u.journal.Close()
	u.journal = nil
}
