package objectstore

import (
	"context"
	"io"
	"os"
	"strings"
	"time"
)

// A Left upload is one that was not ended.
type Left struct {
	Endpoint, Bucket, Key, Upload string // Upload is its id
	URL                           string // that was fetched from, without secrets; "" if no journal is here
	Size                          int64  // bytes that are uploaded and need not be again; -1 if that is not known
	Began                         time.Time
}

// Path is what the object would be called: s3://BUCKET/KEY.
func (l Left) Path() string { return "s3://" + l.Bucket + "/" + l.Key }

// Left lists the uploads below the prefix of the store that were not ended, whatever program has opened them.
func (s *Store) Left(ctx context.Context) ([]Left, error) { return s.left(ctx, s.prefix) }

func (s *Store) left(ctx context.Context, prefix string) (all []Left, err error) {
	known := map[string]Left{}
	if s.options.Folder != "" {
		here, err := Journaled(s.options.Folder)
		if err != nil {
			return nil, err
		}
		for _, l := range here {
			known[l.Upload] = l
		}
	}
	key, id := "", ""
	for range mostPages {
		page, err := s.core.ListMultipartUploads(ctx, s.bucket, prefix, key, id, "", 1000)
		if err != nil {
			return all, s.fault(ctx, prefix, err)
		}
		for _, u := range page.Uploads {
			if !strings.HasPrefix(u.Key, prefix) {
				continue
			}
			l, ok := known[u.UploadID]
			if !ok {
				l = Left{s.endpoint, s.bucket, u.Key, u.UploadID, "", -1, u.Initiated}
			}
			all = append(all, l)
		}
		if !page.IsTruncated || page.NextKeyMarker == "" || page.NextKeyMarker == key && page.NextUploadIDMarker == id {
			return all, nil
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
	return all, s.fault(ctx, prefix, errEndless)
}

// Sweep ends the uploads of a name or, if name is empty, all below the prefix, and removes their journals. It returns those that are gone. An upload
// at which a process of this machine works ends it with an error.
func (s *Store) Sweep(ctx context.Context, name string) (gone []Left, err error) {
	return s.sweep(ctx, name, func(Left) bool { return true })
}

func (s *Store) sweep(ctx context.Context, name string, which func(Left) bool) (gone []Left, err error) {
	all, err := s.left(ctx, s.prefix+name)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if name != "" && l.Key != s.prefix+name || !which(l) {
			continue
		}
		if err := s.end(ctx, l); err != nil {
			return gone, err
		}
		gone = append(gone, l)
	}
	return gone, nil
}

func (s *Store) end(ctx context.Context, l Left) error {
	u := newUpload(s, l.Key)
	if err := u.open(); err != nil {
		return err
	}
	defer u.journal.Close()
	if err := s.core.AbortMultipartUpload(ctx, s.bucket, l.Key, l.Upload); err != nil && codeOf(err) != noSuchUpload {
		return u.fault(ctx, err)
	}
	r, err := readRecord(u.journal)
	if err != nil || r.heading.Upload != l.Upload {
		return err
	}
	return u.journal.Clear()
}

// Journaled lists the uploads that have a journal in a folder ([Options].Folder). No store is asked.
func Journaled(folder string) (all []Left, err error) {
	names, err := journals(folder)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil { // it has just ended
			continue
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return all, err
		}
		r := parseRecord(data)
		if r.none() {
			continue
		}
		l := Left{r.heading.Endpoint, r.heading.Bucket, r.heading.Key, r.heading.Upload, r.heading.URL, 0, r.heading.Began}
		for n := 1; r.parts[n].Number == n; n++ {
			l.Size += r.parts[n].Size
		}
		all = append(all, l)
	}
	return all, err
}
