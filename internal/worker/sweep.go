package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"braid/internal/plug/jetstream"
)

const (
	// sweepEvery is the time between two sweeps. The queue knows for longer that a job was dropped.
	sweepEvery = 5 * time.Minute
	// forgottenAfter is the age of remains whose job the queue does not know. They may be of another queue.
	forgottenAfter = 7 * 24 * time.Hour
	// discarded is the prefix of the names of stages that are being removed. No worker takes these over.
	discarded = "discarded-"
	// idFile is the file with the ID of a Folder.
	idFile = stages + "/id"
)

// sweep removes the remains of dropped jobs until ctx ends.
func (w *Worker) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := w.place.sweep(ctx, w.queue); err != nil && ctx.Err() == nil {
			w.log.Debug("sweep", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweep implements Place. It reads the names of the stages before the records, so that a new stage has a record.
func (p *Folder) sweep(ctx context.Context, queue *jetstream.Queue) error {
	names, err := p.namesIn(stages)
	if err != nil {
		return err
	}
	var keys []string
	for _, name := range names {
		if strings.HasPrefix(name, discarded) {
			p.root.RemoveAll(path.Join(stages, name))
		} else if key := jobOf(name); key != "" {
			keys = append(keys, key)
		}
	}
	missing, err := queue.Gone(ctx, keys)
	if err != nil {
		return err
	}
	for _, name := range names {
		if dropped, gone := missing[jobOf(name)]; gone && (dropped || p.isOld(name)) {
			p.discard(name)
		}
	}
	return nil
}

// jobOf returns the key of the job of a stage, or "" if name is not that of a stage.
func jobOf(name string) string {
	key, _, _ := strings.Cut(name, "-")
	if sum, err := hex.DecodeString(key); err != nil || len(sum) == 0 || fenceOf(name) == 0 {
		return ""
	}
	return key
}

// isOld reports whether nothing in a stage was changed for a long time.
func (p *Folder) isOld(name string) bool {
	old := true
	err := fs.WalkDir(p.root.FS(), path.Join(stages, name), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		old = old && err == nil && time.Since(info.ModTime()) > forgottenAfter
		return err
	})
	return old && err == nil
}

// discard removes a stage. It renames the stage first, because a worker that gets the job meanwhile renames it, too,
// and must not find a stage that is half removed.
func (p *Folder) discard(name string) {
	away := path.Join(stages, discarded+name)
	if p.root.Rename(path.Join(stages, name), away) == nil {
		p.root.RemoveAll(away)
	}
}

// ID implements Place. The ID is in a file that the first worker makes, and makes again if a loss of power emptied it.
func (p *Folder) ID() (string, error) {
	data, err := p.root.ReadFile(idFile)
	if id := strings.TrimSpace(string(data)); id != "" || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	torn := err == nil
	own := idFile + "-" + rand.Text()
	if err := p.root.WriteFile(own, []byte(own[len(idFile)+1:]+"\n"), 0o666); err != nil {
		return "", err
	}
	defer p.root.Remove(own)
	if err := p.root.Link(own, idFile); err != nil && (torn || !errors.Is(err, fs.ErrExist)) {
		if err := p.root.Rename(own, idFile); err != nil {
			return "", err
		}
	}
	data, err = p.root.ReadFile(idFile)
	return strings.TrimSpace(string(data)), err
}
