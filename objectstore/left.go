package objectstore

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"braid/download"
	"braid/internal/fsys"
)

// A Left is an upload that was neither completed nor aborted.
type Left struct {
	Endpoint, Bucket, Key, Upload string // Upload is the ID
	URL                           string // URL of the file, without secrets; "" if this machine has no journal
	Size                          int64  // bytes that were uploaded; -1 if unknown
	Began                         time.Time
	InUse                         bool // a process on this machine uses the upload
	PID                           int  // process ID of that process; 0 if unknown

	changed time.Time // modification time of the journal
}

// Path returns the URL of the object, s3://BUCKET/KEY.
func (l Left) Path() string { return "s3://" + l.Bucket + "/" + l.Key }

// Left returns the unfinished uploads below the store's prefix, including those of other programs.
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
	for at, seen := (marker{}), map[marker]bool{}; !seen[at] && len(seen) < mostPages; {
		seen[at] = true
		page, err := s.core.ListMultipartUploads(ctx, s.bucket, prefix, at.key, at.upload, "", 1000)
		if err != nil {
			return all, s.fault(ctx, prefix, err)
		}
		for _, u := range page.Uploads {
			if !strings.HasPrefix(u.Key, prefix) {
				continue
			}
			l, ok := known[u.UploadID]
			if !ok {
				l = Left{Endpoint: s.endpoint, Bucket: s.bucket, Key: u.Key, Upload: u.UploadID, Size: -1, Began: u.Initiated}
			}
			all = append(all, l)
		}
		if !page.IsTruncated {
			return all, nil
		}
		at = marker{page.NextKeyMarker, page.NextUploadIDMarker}
	}
	return all, s.fault(ctx, prefix, errEndless)
}

// A marker is where a page of a listing begins.
type marker struct{ key, upload string }

// Sweep aborts the unfinished uploads of the object called name, and removes their journals. If name is "", it does so
// for all objects below the prefix. It returns the aborted uploads. An upload that a process on this machine uses is
// not aborted, but is an error.
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
		this := s.end(ctx, l)
		if this == nil {
			gone = append(gone, l)
		}
		err = cmp.Or(err, this)
		// An error that is not a local one concerns all uploads.
		if e, ok := errors.AsType[*download.Error](this); this != nil && !(ok && e.Kind == download.Local) {
			return gone, this
		}
	}
	return gone, err
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
	r, err := u.record()
	if err != nil || r.heading.Upload != l.Upload {
		return err
	}
	return u.journal.Clear()
}

// Journaled returns the uploads that have a journal in folder; see [Options].Folder. It sends no request to the store.
func Journaled(folder string) (all []Left, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*"+journalEnding))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	dir, err := fsys.OS.OpenDir(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for _, name := range names {
		l, err := journaled(dir, filepath.Base(name))
		if err != nil {
			return all, err
		}
		if l.Upload != "" {
			all = append(all, l)
		}
	}
	return all, nil
}

// journaled returns the upload of a journal. It returns the zero value if the journal has no upload or was just
// removed.
func journaled(dir fsys.Dir, name string) (l Left, err error) {
	f, err := dir.Open(name)
	if err != nil { // the journal was just removed
		return l, nil
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		return l, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size))
	if err != nil {
		return l, err
	}
	r := parseRecord(data)
	if r.none() {
		return l, nil
	}
	h := r.heading
	l = Left{Endpoint: h.Endpoint, Bucket: h.Bucket, Key: h.Key, Upload: h.Upload, URL: h.URL, Began: h.Began,
		changed: info.ModTime}
	for n := 1; r.parts[n].Number == n; n++ {
		l.Size += r.parts[n].Size
	}
	l.InUse, l.PID, err = fsys.Held(f)
	return l, err
}
