package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"

	"braid/download"
)

// latestMark is the metadata key for the text of an object that setLatest made.
const latestMark = "braid-latest"

// latestSum is the metadata key for the SHA-256 of the content of an object that setLatest made.
const latestSum = "braid-latest-sha256"

// maxLatest limits the content of such an object in bytes.
const maxLatest = 1 << 10

// latestTries is how often replacing an object is tried while other processes replace it, too.
const latestTries = 5

// latestOf returns the text of an object that setLatest made, and the condition for replacing it.
func latestOf(ctx context.Context, u *upload) (c condition, text string, err error) {
	info, err := u.head(ctx)
	if err != nil || info == nil {
		return c, "", err
	}
	body, now, _, err := u.store.core.GetObject(ctx, u.store.bucket, u.key, minio.GetObjectOptions{})
	if err != nil {
		return c, "", u.fault(ctx, err)
	}
	defer body.Close()
	if text = now.UserMetadata[http.CanonicalHeaderKey(latestMark)]; text == "" {
		return c, "", &download.Error{Kind: download.Local, What: "store", Where: u.path(),
			Err: errors.New("a different object has the name of the link, and is kept")}
	}
	line, err := io.ReadAll(io.LimitReader(body, maxLatest))
	if err != nil {
		return c, "", u.fault(ctx, err)
	}
	sum := sha256.Sum256(line)
	want := now.UserMetadata[http.CanonicalHeaderKey(latestSum)] // missing from objects of older versions of braid
	if string(line) != text+"\n" || want != "" && want != hex.EncodeToString(sum[:]) {
		return c, "", &download.Error{Kind: download.Local, What: "store", Where: u.path(),
			Err:  errors.New("this object is damaged or was changed by another program, so it is not replaced"),
			Hint: "delete the object; the next version creates it again"}
	}
	return condition{now.ETag}, text, nil
}

// setLatest makes the object contain text as a line, unless isOlder returns true for its current text. It replaces only
// an object that setLatest made.
func setLatest(ctx context.Context, u *upload, text string, isOlder func(than string) bool) error {
	var failed error
	for range latestTries {
		c, old, err := latestOf(ctx, u)
		if err != nil || old == text || old != "" && isOlder(old) {
			return err
		}
		line := []byte(text + "\n")
		sum := sha256.Sum256(line)
		o := minio.PutObjectOptions{ContentType: "text/plain", DisableContentSha256: true}
		o.UserMetadata = map[string]string{latestMark: text, latestSum: hex.EncodeToString(sum[:])}
		if failed = u.guard(ctx, c, &o); failed == nil {
			body := bytes.NewReader(line)
			_, failed = u.store.core.PutObject(ctx, u.store.bucket, u.key, body, body.Size(), "", hex.EncodeToString(sum[:]), o)
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
