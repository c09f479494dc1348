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

// evidenceEnding is that of the object beside a file which says what the file was proven by.
const evidenceEnding = ".evidence.json"

// Reserved reports whether an object of a name would have that of the evidence of another one.
func Reserved(name string) bool { return strings.HasSuffix(name, evidenceEnding) }

var errReserved = errors.New("names that end in " + evidenceEnding + " are those of the evidence beside objects")

// openToWrite opens the journal of an object that is to be made. It refuses the name of the evidence of another one.
func (u *upload) openToWrite() error {
	if Reserved(u.key) {
		return &download.Error{Kind: download.Usage, What: "store", Where: u.path(), Err: errReserved}
	}
	return u.open()
}

// Evidence is what the object NAME.evidence.json says of NAME.
type Evidence struct {
	Object       string            `json:"object"`
	Upload       string            `json:"upload,omitempty"` // x-amz-meta-braid-upload of the object that it is of
	URL          string            `json:"url"`              // masked
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

func newEvidence(object string, h heading, f download.UploadFinal) Evidence {
	r, p := f.Result, f.Result.Proof
	e := Evidence{
		Object: object, Upload: h.Token, URL: f.URL, Size: p.Size(), Digests: map[string]string{}, Verified: p.Verified(), By: p.String(),
		Host: r.Host, ETag: r.ETag, LastModified: r.LastModified.UTC(), Began: h.Began, Ended: time.Now().UTC().Truncate(time.Second),
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

// of reports whether the evidence is of an object with a token and a digest. Evidence of earlier versions of braid has no token.
func (e *Evidence) of(token, sum string) bool {
	if e.Upload != "" {
		return e.Upload == token
	}
	return sum != "" && e.Digests[verify.SHA256.String()] == sum
}

// tokenOf is the token of the upload that made an object; "" if another program did.
func tokenOf(info *minio.ObjectInfo) string { return info.UserMetadata["Braid-Upload"] }

// Found implements download.Upload. The run that made the object may have been killed before it put the evidence.
func (u *upload) Found(ctx context.Context, f download.UploadFinal) {
	if u.existing != nil && tokenOf(u.existing) != "" {
		u.putEvidence(ctx, newEvidence(u.path(), heading{Token: tokenOf(u.existing)}, f), false)
	}
}

// evidenceTries is how often evidence is put that another process puts, too.
const evidenceTries = 5

// putEvidence puts the evidence beside the object that it is of, if that is there and its lease allows it; else another
// process has replaced the object, and puts its own. If anew is false, evidence of the object that is there stays. So
// does another object of that name. That it cannot is told.
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
		err = errors.New("other processes put theirs")
	}
	if l := u.store.lease; l == nil || l.Confirm(ctx) == nil {
		u.store.options.Note(fmt.Sprintf("%s is in place, and its evidence could not be put beside it: %v", u.path(), beside.fault(ctx, err)))
	}
}

// tryEvidence puts evidence in place of what is there. It looks at that before it looks at the object: evidence of a
// newer object comes after that object, so the condition fails if the object is replaced meanwhile. Done is true if
// nothing is to be put.
func (u *upload) tryEvidence(ctx context.Context, beside *upload, e Evidence, data []byte, anew, first bool) (done bool, err error) {
	obeys, _ := u.store.probed.hold(ctx, u.key)
	var c condition
	if !(first && obeys && anew && u.existing == nil) { // most often a new object has no earlier evidence
		var there Evidence
		if c, there, err = beside.evidenceOf(ctx, u.path()); err != nil || !anew && there.of(e.Upload, e.Digests[verify.SHA256.String()]) {
			return err == nil, err
		}
	}
	info, err := u.head(ctx)
	if err != nil || info == nil || tokenOf(info) != e.Upload {
		return err == nil, err
	}
	if l := u.store.lease; l != nil && l.Confirm(ctx) != nil {
		return true, nil // the process that has it now looks for the evidence
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
	_, err := u.store.core.PutObject(ctx, u.store.bucket, u.key, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]), o)
	return err
}

// mostEvidence is how long evidence may be.
const mostEvidence = 4 << 20

// evidenceOf is the evidence of an object that is there, and the condition under which other evidence may be put:
// nothing has that name, or what was read has it and is replaced.
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
		return c, Evidence{}, &download.Error{Kind: download.Local, What: "store", Where: u.path(), Err: errors.New("another object has its name")}
	}
	return condition{info.ETag}, e, nil
}

// finish ends what a run left that was killed after Complete, if the object is of its upload: it puts the evidence, and
// clears the journal.
func (u *upload) finish(ctx context.Context, info minio.ObjectInfo) {
	token := tokenOf(&info)
	if token == "" || u.open() != nil { // another process is at it
		return
	}
	if r, err := readRecord(u.journal); err == nil && r.heading.Token == token {
		if e := (Evidence{}); r.evidence != nil && json.Unmarshal(r.evidence, &e) == nil {
			e.Upload = token
			u.putEvidence(ctx, e, false)
		}
		u.journal.Clear()
	}
	u.journal.Close()
	u.journal = nil
}
