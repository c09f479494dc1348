package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"braid/fleet"
	"braid/internal/once"
	"braid/internal/plug/jetstream"
)

const (
	// sweepEvery is the time between two sweeps. A queue remembers longer than that which jobs were removed.
	sweepEvery = 5 * time.Minute
	// forgottenAfter is the minimum age of the stages that a sweep removes if this queue has no record for them and
	// knows of no removal, or if they are of another queue.
	forgottenAfter = 7 * 24 * time.Hour
	// renewAfter is the age that makes a sweep set the modification time of a stage to the current time.
	renewAfter = 24 * time.Hour
	// discarded is the prefix of the names of stages that are being removed. No worker uses such a stage.
	discarded = "discarded-"
	// idFile is the file with the ID of a Folder.
	idFile = stages + "/id"
)

// sweep removes the remains of dropped jobs, again and again, until ctx is done.
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

// sweep implements Place. It reads the names of stages before the records of jobs, so that the job of a new stage has a
// record. It renews the stages of this queue, so that workers of another queue do not consider them old, and removes
// those of jobs that are done.
func (p *Folder) sweep(ctx context.Context, queue *jetstream.Queue) error {
	names, err := p.namesIn(stages)
	if err != nil {
		return err
	}
	var there []stageName
	var keys []string
	for _, name := range names {
		if strings.HasPrefix(name, discarded) {
			p.root.RemoveAll(path.Join(stages, name))
		} else if n := parseStage(name); n.key != "" {
			there, keys = append(there, n), append(keys, n.key)
		}
	}
	missing, err := queue.Gone(ctx, keys)
	if err != nil {
		return err
	}
	records, err := queue.Records(ctx, keys)
	if err != nil {
		return err
	}
	ended := map[string]uint64{} // fence of the attempt that ended the job
	for _, r := range records {
		if r.State == fleet.Done {
			ended[r.Job.Key()] = r.Lease.Fence
		}
	}
	for _, n := range there {
		dropped, gone := missing[n.key]
		switch own := n.queue == queue.ID(); {
		case own && n.fence <= ended[n.key]: // its worker was killed before it removed the stage
			p.discard(n.String())
		case own && !gone:
			p.renew(n.String())
		case own && dropped, (gone || !own && n.queue != "") && p.isOld(n.String()):
			p.discard(n.String())
		}
	}
	return nil
}

// A stageName identifies a stage. Jobs of two queues may have the same key. Older versions of braid made stages without
// a queue.
type stageName struct {
	key, queue string
	fence      uint64
}

func (n stageName) String() string {
	if n.queue == "" {
		return fmt.Sprintf("%s-%d", n.key, n.fence)
	}
	return fmt.Sprintf("%s-%s-%d", n.key, n.queue, n.fence)
}

var stageWords = once.Pattern(`^([0-9a-f]{24})-(?:([0-9a-z]+)-)?([1-9][0-9]*)$`)

// parseStage parses name as the name of a stage. The key is "" if it is something else.
func parseStage(name string) (n stageName) {
	if m := stageWords().FindStringSubmatch(name); m != nil {
		n.key, n.queue = m[1], m[2]
		n.fence, _ = strconv.ParseUint(m[3], 10, 64)
	}
	return n
}

// renew sets the modification time of a stage to the current time, at most once a day.
func (p *Folder) renew(name string) {
	name = path.Join(stages, name)
	if info, err := p.root.Lstat(name); err == nil && time.Since(info.ModTime()) > renewAfter {
		now := time.Now()
		p.root.Chtimes(name, now, now)
	}
}

// isOld reports whether nothing in a stage has changed for the time forgottenAfter.
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

// discard removes a stage. It renames the stage first: a worker that takes the job now also renames the stage, and must
// not get one that is partly removed.
func (p *Folder) discard(name string) {
	away := path.Join(stages, discarded+name)
	if p.root.Rename(path.Join(stages, name), away) == nil {
		p.root.RemoveAll(away)
	}
}

// ID implements Place. The ID is in a file, which the first worker creates. If the file is empty after a power failure,
// it is created again.
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
