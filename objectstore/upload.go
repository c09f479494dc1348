package objectstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"braid/download"
)

const (
	minPart = 8 << 20
	maxPart = 5 << 30
	mebi    = 1 << 20
	// mostParts is the number of parts of a file of known size. Stores allow 10,000.
	mostParts = 9000
	// atOnce is the number of parts that are sent concurrently.
	atOnce = 4
)

// partEnd returns where the part ends that begins at off. If size is unknown, each part is longer by a thousandth of
// its offset, so that 10,000 parts are enough for the largest object.
func partEnd(off, size int64) int64 {
	n := off / 1000
	if size >= 0 {
		n = size / mostParts
	}
	n = (n/mebi + 1) * mebi
	return off + min(max(n, minPart), maxPart)
}

// An upload is the upload of one key. The methods of download.Upload must be called one after the other. Other
// goroutines send the parts.
type upload struct {
	store    *Store
	key      string
	journal  journal // nil while it is not open
	existing *minio.ObjectInfo

	heading heading // heading.Upload is "" before the first part
	small   *download.UploadPart
	number  int // number of the last part
	earlier earlier

	ctx    context.Context // context for sending parts
	cancel context.CancelFunc
	slots  chan struct{}
	wg     sync.WaitGroup

	mu     sync.Mutex
	parts  map[int]entry // parts that were uploaded
	failed error         // error of the first part that failed
}

func newUpload(s *Store, key string) *upload {
	return &upload{store: s, key: key, parts: map[int]entry{}, slots: make(chan struct{}, atOnce)}
}

// PartEnd implements download.Upload.
func (u *upload) PartEnd(off, size int64) int64 { return partEnd(off, size) }

func (u *upload) fault(ctx context.Context, err error) error { return u.store.fault(ctx, u.key, err) }

// open opens the journal, unless it is open already.
func (u *upload) open() (err error) {
	if u.journal != nil {
		return nil
	}
	if err := u.checkKey(); err != nil {
		return err
	}
	u.journal, err = u.store.journal(u.key)
	if own, ok := errors.AsType[*download.Error](err); ok {
		own.Where = u.path()
	}
	return err
}

// checkKey returns an error if the key is not valid.
func (u *upload) checkKey() error {
	if validKey(u.key) {
		return nil
	}
	return &download.Error{Kind: download.Usage, What: "store", Where: u.path(), Err: errKey}
}

func (u *upload) path() string { return "s3://" + u.store.bucket + "/" + u.key }

// Resume implements download.Upload. It continues after the last part that both the journal and the store have,
// together with all parts before it.
func (u *upload) Resume(ctx context.Context) (size int64, state []byte, err error) {
	if err := u.openToWrite(); err != nil {
		return 0, nil, err
	}
	r, err := u.record()
	if err != nil || r.none() {
		return 0, nil, err
	}
	if r.heading.Endpoint != u.store.endpoint || r.heading.Bucket != u.store.bucket || r.heading.Key != u.key {
		return 0, nil, u.journal.Clear()
	}
	listed, err := u.store.parts(ctx, u.key, r.heading.Upload)
	if codeOf(err) == noSuchUpload {
		return 0, nil, u.journal.Clear()
	}
	if err != nil {
		return 0, nil, u.fault(ctx, err)
	}
	if err := u.store.opened(ctx, r.heading.Upload); err != nil {
		return 0, nil, err
	}
	u.heading = r.heading
	u.begin(ctx)
	for {
		e, ok := r.parts[u.number+1]
		is, there := listed[u.number+1]
		if !ok || !there || e.Start != size || !e.is(is) {
			break
		}
		u.number++
		u.parts[u.number] = e
		size, state = size+e.Size, e.State
	}
	if size == 0 {
		return 0, nil, u.Restart(ctx)
	}
	return size, state, appendLine(u.journal, entry{Start: int64(u.number)})
}

// is reports whether e, a part in the journal, is the part p that the store has.
func (e entry) is(p minio.ObjectPart) bool {
	return e.Size == p.Size && e.ETag == strings.Trim(p.ETag, `"`) &&
		(p.ChecksumSHA256 == "" || p.ChecksumSHA256 == inBase64(e.SHA256))
}

// parts returns the parts of an upload that the store has, by number.
func (s *Store) parts(ctx context.Context, key, upload string) (map[int]minio.ObjectPart, error) {
	all := map[int]minio.ObjectPart{}
	for after := 0; ; {
		page, err := s.core.ListObjectParts(ctx, s.bucket, key, upload, after, 1000)
		if err != nil {
			return nil, err
		}
		before := after
		for _, p := range page.ObjectParts {
			all[p.PartNumber] = p
			after = max(after, p.PartNumber)
		}
		if !page.IsTruncated || after == before {
			return all, nil
		}
		if len(all) > 10_000 {
			return nil, errEndless
		}
	}
}

func inBase64(sum string) string {
	raw, err := hex.DecodeString(sum)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// begin creates the context for sending parts. It is canceled by stop, and not with ctx.
func (u *upload) begin(ctx context.Context) {
	if u.cancel == nil {
		u.ctx, u.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
}

// Put implements download.Upload. If the file has only one part, Commit sends it.
func (u *upload) Put(ctx context.Context, p download.UploadPart) error {
	if p.Start == 0 && p.Last {
		u.small = &p
		return nil
	}
	if err := u.begun(ctx, p); err != nil {
		return err
	}
	select {
	case u.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	u.mu.Lock()
	failed := u.failed
	u.mu.Unlock()
	if failed != nil {
		<-u.slots
		return failed
	}
	u.number++
	number := u.number
	u.wg.Go(func() {
		defer func() { <-u.slots }()
		if err := u.send(u.ctx, number, p); err != nil {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.failed = cmp.Or(u.failed, err)
		}
	})
	return nil
}

// begun makes sure that the upload is open, before its first part p is sent.
func (u *upload) begun(ctx context.Context, p download.UploadPart) error {
	if u.heading.Upload != "" {
		return nil
	}
	if err := u.open(); err != nil {
		return err
	}
	h := heading{Version: journalVersion, Endpoint: u.store.endpoint, Bucket: u.store.bucket, Key: u.key,
		Token: newToken(), URL: p.URL, Began: time.Now().UTC().Truncate(time.Second)}
	o := minio.PutObjectOptions{UserMetadata: u.store.metadata(h, p.Claims)}
	o.UserMetadata["x-amz-checksum-algorithm"], o.UserMetadata["x-amz-checksum-type"] = "SHA256", "COMPOSITE"
	var err error
	// The request must not be canceled with ctx: an upload with an unknown ID would stay.
	opening, stop := outliving(ctx, abortTime)
	h.Upload, err = u.store.core.NewMultipartUpload(opening, u.store.bucket, u.key, o)
	stop()
	if err != nil {
		return u.fault(ctx, err)
	}
	if ctx.Err() != nil {
		u.abort(h.Upload)
		return context.Cause(ctx)
	}
	if err := u.store.opened(ctx, h.Upload); err != nil {
		u.abort(h.Upload)
		return err
	}
	u.heading = h
	u.begin(ctx)
	u.wg.Go(func() { // only Commit needs the results
		u.store.probed.hold(u.ctx, u.key)
		u.earlier = u.findEarlier(u.ctx)
	})
	if err := u.journal.Clear(); err != nil {
		return err
	}
	return appendLine(u.journal, h)
}

// send uploads p as the part with that number, and records it in the journal.
func (u *upload) send(ctx context.Context, number int, p download.UploadPart) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(p.Bytes, 0, p.Bytes.Size())); err != nil {
		return err
	}
	raw := sum.Sum(nil)
	o := minio.PutObjectPartOptions{
		DisableContentSha256: true, CustomHeader: http.Header{"X-Amz-Checksum-Sha256": {base64.StdEncoding.EncodeToString(raw)}},
	}
	sent, err := u.store.core.PutObjectPart(ctx, u.store.bucket, u.key, u.heading.Upload, number, p.Bytes, p.Bytes.Size(), o)
	if codeOf(err) == noSuchUpload {
		return u.store.lost(u.key)
	}
	if err != nil {
		return u.fault(ctx, err)
	}
	e := entry{Number: number, Start: p.Start, Size: p.Bytes.Size(), SHA256: hex.EncodeToString(raw), ETag: sent.ETag,
		State: p.State}
	u.mu.Lock()
	err = appendLine(u.journal, e)
	e.State = nil
	u.parts[number] = e
	u.mu.Unlock()
	if err != nil {
		return fmt.Errorf("the journal of the upload: %w", err)
	}
	p.Uploaded()
	return nil
}

// sent waits for the parts that are being sent. It returns all parts in order, or the error of the first part that failed.
func (u *upload) sent() ([]minio.CompletePart, error) {
	u.wg.Wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed != nil {
		return nil, u.failed
	}
	var all []minio.CompletePart
	for _, n := range slices.Sorted(maps.Keys(u.parts)) {
		all = append(all, minio.CompletePart{PartNumber: n, ETag: u.parts[n].ETag, ChecksumSHA256: inBase64(u.parts[n].SHA256)})
	}
	return all, nil
}

// stop waits for the parts that are being sent, and cancels them after the given time. After it returns, no part is
// read any more.
func (u *upload) stop(after time.Duration) {
	if u.cancel == nil {
		return
	}
	late := time.AfterFunc(after, u.cancel)
	u.wg.Wait()
	late.Stop()
	u.cancel()
	u.cancel = nil
}

// lastParts is how long to wait for parts before an upload is aborted. A part that the store is still receiving may
// restore the upload.
const lastParts = 2 * time.Second

// Restart implements download.Upload.
func (u *upload) Restart(context.Context) error {
	u.stop(lastParts)
	if u.heading.Upload != "" {
		u.abort(u.heading.Upload)
	}
	u.heading, u.small, u.number, u.parts, u.failed = heading{}, nil, 0, map[int]entry{}, nil
	if u.journal == nil {
		return nil
	}
	return u.journal.Clear()
}

// abortTime limits how long aborting an upload is tried. If that fails, Store.Sweep can abort the upload later.
const abortTime = 10 * time.Second

// abort aborts the upload with that ID, even if the context of the upload is done. A part that the store is still
// receiving may restore the upload. Therefore abort repeats the request until the store no longer knows the upload.
func (u *upload) abort(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	var err error
	for wait := 20 * time.Millisecond; ctx.Err() == nil; wait *= 2 {
		err = u.store.core.AbortMultipartUpload(ctx, u.store.bucket, u.key, id)
		_, gone := u.store.core.ListObjectParts(ctx, u.store.bucket, u.key, id, 0, 1)
		if codeOf(gone) == noSuchUpload {
			return
		}
		if gone != nil && err == nil { // listing may be forbidden
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	u.store.options.Note(fmt.Sprintf("%s: the upload could not be aborted (%v); braid parts remove %s aborts it", u.path(),
		u.fault(context.Background(), err), u.path()))
}

// Keep implements download.Upload. Without a part that ends at size, it changes nothing.
func (u *upload) Keep(size int64, state []byte) error {
	u.stop(0)
	for _, e := range u.parts {
		if e.Start+e.Size == size {
			e.State = state
			return errors.Join(appendLine(u.journal, e), appendLine(u.journal, entry{Start: int64(e.Number)}))
		}
	}
	return nil
}

// Close implements download.Upload.
func (u *upload) Close() error {
	u.stop(0)
	if u.journal == nil {
		return nil
	}
	err := u.journal.Close()
	u.journal = nil
	return err
}
