package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// pictures are the runs that can be drawn: all that are at work, and the last ones that ended.
type pictures struct {
	mu    sync.Mutex
	runs  map[queue.GID]*run
	ended []*run
}

// mostEnded is how many of those that ended can be drawn.
const mostEnded = 12

func (p *pictures) begin(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs == nil {
		p.runs = map[queue.GID]*run{}
	}
	p.runs[r.gid] = r
}

// end keeps a run that has ended in the place of the one that ended first.
func (p *pictures) end(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, r)
	if len(p.ended) <= mostEnded {
		return
	}
	if first := p.ended[0]; p.runs[first.gid] == first { // else another one of the same entry has begun
		delete(p.runs, first.gid)
	}
	p.ended = slices.Delete(p.ended, 0, 1)
}

// Draw returns what happens in the download of an entry, or happened in the last one of it, as a part of a page of HTML with
// [report.Style]. It is nil if the entry was not begun since the start, or long ago.
func (d *Daemon) Draw(_ context.Context, g queue.GID) ([]byte, error) {
	d.pictures.mu.Lock()
	r := d.pictures.runs[g]
	d.pictures.mu.Unlock()
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rec.Draw(time.Now()), nil
}

// record takes down how the download ended.
func (r *run) record(res download.Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.End(time.Now(), res, err)
}
