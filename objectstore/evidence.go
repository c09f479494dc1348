package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"braid/download"
	"braid/verify"
)

// evidenceEnding ends the name of an object that contains evidence. The rest of the name is that of the object that it
// is about.
const evidenceEnding = ".evidence.json"

// Reserved reports whether name is the name of an object with evidence.
func Reserved(name string) bool { return strings.HasSuffix(name, evidenceEnding) }

var errReserved = errors.New("names that end in " + evidenceEnding + " are reserved for the evidence beside objects")

// openToWrite opens the journal of an upload that may create an object. It refuses names that are reserved for evidence.
func (u *upload) openToWrite() error {
	if Reserved(u.key) {
		return &download.Error{Kind: download.Usage, What: "store", Where: u.path(), Err: errReserved}
	}
	return u.open()
}

// Evidence is the content of the object NAME.evidence.json. It describes what proved the object NAME.
type Evidence struct {
	Object       string            `json:"object"`
	Upload       string            `json:"upload,omitempty"` // x-amz-meta-braid-upload of the object NAME
	URL          string            `json:"url"`              // without secrets
	Size         int64             `json:"size"`
	Digests      map[string]string `json:"digests"` // by algorithm, in hexadecimal digits
	Verified     bool              `json:"verified"`
	By           string            `json:"by"`
	Claims       []string          `json:"claims,omitempty"`
	Signatures   []Signer          `json:"signatures,omitempty"`
	Host         string            `json:"host,omitempty"` // host that sent ETag and LastModified
	ETag         string            `json:"etag,omitempty"`
	LastModified time.Time         `json:"last_modified,omitzero"`
	Sources      []Source          `json:"sources,omitempty"`
	Began        time.Time         `json:"began,omitzero"`
	Ended        time.Time         `json:"ended"`
}

// A Signer is the key, or its owner, that made a valid signature.
type Signer struct {
	Kind string    `json:"kind"`
	Key  string    `json:"key"`
	Name string    `json:"name,omitempty"`
	Time time.Time `json:"time,omitzero"`
	From string    `json:"from,omitempty"`
}

// A Source is a source that sent bytes in the last run.
type Source struct {
	URL   string `json:"url"` // without secrets
	Host  string `json:"host,omitempty"`
	Bytes int64  `json:"bytes"`
}

func newEvidence(object string, h heading, f download.UploadFinal) Evidence {
	r, p := f.Result, f.Result.Proof
	e := Evidence{
		Object: object, Upload: h.Token, URL: f.URL, Size: p.Size(), Digests: map[string]string{},
		Verified: p.Verified(), By: p.String(),
		Host: r.Host, ETag: r.ETag, LastModified: r.LastModified.UTC(), Began: h.Began,
		Ended: time.Now().UTC().Truncate(time.Second),
	}
	for _, d := range p.Digests() {
		e.Digests[d.Algorithm().String()] = d.Hex()
	}
	for _, c := range p.Evidence() {
		e.Claims = append(e.Claims, c.String())
	}
	for _, s := range p.Signatures() {
		e.Signatures = append(e.Signatures, Signer{s.Kind, s.Key, s.Signer, s.Time.UTC(), s.From})
	}
	for _, s := range r.Sources {
		if s.Bytes > 0 {
			e.Sources = append(e.Sources, Source{s.URL, s.Host, s.Bytes})
		}
	}
	return e
}

// of reports whether e is about the object with that token or SHA-256. Evidence of old versions of braid has no token.
func (e *Evidence) of(token, sum string) bool {
	if e.Upload != "" {
		return e.Upload == token
	}
	return sum != "" && e.Digests[verify.SHA256.String()] == sum
}

// tokenOf returns the token of the upload that created the object, or "" if another program created it.
func tokenOf(info *minio.ObjectInfo) string { return info.UserMetadata["Braid-Upload"] }

// Found implements download.Upload. It writes evidence if it is missing: the run that created the object may have been
// killed before it wrote the evidence.
func (u *upload) Found(ctx context.Context, f download.UploadFinal) {
	if u.existing != nil && tokenOf(u.existing) != "" {
		u.putEvidence(ctx, newEvidence(u.path(), heading{Token: tokenOf(u.existing)}, f), false)
	}
}

// evidenceTries is how often writing evidence is tried while other processes write it, too.
const evidenceTries = 5

// putEvidence writes e beside its object, if that object still exists and the lease is held. Otherwise, another process
// has replaced the object and writes evidence itself. The argument anew allows replacing evidence about the object. An
// unrelated object with the name of the evidence always stays. An error is reported with Note.
func (u *upload) putEvidence(ctx context.Context, e Evidence, anew bool) {
	beside := newUpload(u.store, u.key+evidenceEnding)
	data, err := json.MarshalIndent(e, "", "  ")
	for try := 0; err == nil && try < evidenceTries; try++ {
		var done bool
		if done, err = u.tryEvidence(ctx, beside, e, data, anew, try == 0); done {
			return
		}
		if code := codeOf(err); code == preconditioned || code == conflict {
			err = nil
		}
	}
	if err == nil {
		err = errors.New("other processes keep replacing the evidence")
	}
	if l := u.store.lease; l == nil || l.Confirm(ctx) == nil {
		u.store.options.Note(fmt.Sprintf("%s is in place, but its evidence could not be stored beside it: %v", u.path(),
			beside.fault(ctx, err)))
	}
}

// tryEvidence writes the evidence, unless the existing evidence has changed since it was read. It reads the existing
// evidence first, and then the object. A process that replaces the object after that also writes its evidence after
// that, so the condition then fails. done is true if nothing is left to write.
func (u *upload) tryEvidence(ctx context.Context, beside *upload, e Evidence, data []byte, anew,
	first bool) (done bool, err error) {
	obeys, _ := u.store.probed.hold(ctx, u.key)
	var c condition
	if !(first && obeys && anew && u.existing == nil) { // a new object rarely has earlier evidence
		var there Evidence
		if c, there, err = beside.evidenceOf(ctx, u.path()); err != nil || !anew && there.of(e.Upload,
			e.Digests[verify.SHA256.String()]) {
			return err == nil, err
		}
	}
	info, err := u.head(ctx)
	if err != nil || info == nil || tokenOf(info) != e.Upload {
		return err == nil, err
	}
	if l := u.store.lease; l != nil && l.Confirm(ctx) != nil {
		return true, nil // the holder of the lease writes the evidence
	}
	if obeys {
		err = beside.putJSON(ctx, data, &c)
	} else {
		err = beside.putJSON(ctx, data, nil)
	}
	return err == nil, err
}

func (u *upload) putJSON(ctx context.Context, data []byte, c *condition) error {
	o := minio.PutObjectOptions{ContentType: "application/json", DisableContentSha256: true}
	if c != nil {
		c.options(&o)
	}
	sum := sha256.Sum256(data)
	_, err := u.store.core.PutObject(ctx, u.store.bucket, u.key, bytes.NewReader(data), int64(len(data)), "",
		hex.EncodeToString(sum[:]), o)
	return err
}

// mostEvidence is how many bytes of evidence are read at most.
const mostEvidence = 4 << 20

// evidenceOf returns the existing evidence about the object, and the condition for replacing it: the evidence is
// missing, or has not changed since it was read.
func (u *upload) evidenceOf(ctx context.Context, object string) (c condition, e Evidence, err error) {
	info, err := u.head(ctx)
	if err != nil || info == nil {
		return c, e, err
	}
	body, err := u.read(ctx, *info)
	if err != nil {
		return c, e, err
	}
	defer body.Close()
	if json.NewDecoder(io.LimitReader(body, mostEvidence)).Decode(&e) != nil || e.Object != object {
		return c, Evidence{}, &download.Error{Kind: download.Local, What: "store", Where: u.path(),
			Err: errors.New("an unrelated object has this name")}
	}
	return condition{info.ETag}, e, nil
}

// finish ends the work of a run that was killed after Complete, if the upload in the journal created the object. It
// writes the evidence and clears the journal.
func (u *upload) finish(ctx context.Context, info minio.ObjectInfo) {
	token := tokenOf(&info)
	if token == "" || u.open() != nil { // another process uses the journal
		return
	}
	if r, err := u.record(); err == nil && r.heading.Token == token {
		if e := (Evidence{}); r.evidence != nil && json.Unmarshal(r.evidence, &e) == nil {
			e.Upload = token
			u.putEvidence(ctx, e, false)
		}
		u.journal.Clear()
	}
	u.journal.Close()
	u.journal = nil
}
