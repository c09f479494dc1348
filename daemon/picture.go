package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// A pictures holds the runs that can be drawn: all running downloads, and the downloads that ended last.
type pictures struct {
	mu    sync.Mutex
	runs  map[queue.GID]*run
	ended []*run
}

// mostEnded limits the number of ended runs in a pictures.
const mostEnded = 12

func (p *pictures) begin(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs == nil {
		p.runs = map[queue.GID]*run{}
	}
	p.runs[r.gid] = r
}

// end records that r has ended. If more than mostEnded runs have ended, the one that ended first is dropped.
func (p *pictures) end(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, r)
	if len(p.ended) <= mostEnded {
		return
	}
	if first := p.ended[0]; p.runs[first.gid] == first { // not if a newer run of the same entry has begun
		delete(p.runs, first.gid)
	}
	p.ended = slices.Delete(p.ended, 0, 1)
}

// Draw returns a drawing of the current or last download of entry g, as a fragment of an HTML page that uses
// [report.Style]. It returns nil if no run of the entry is kept.
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

// record records that the download ended with res and err.
func (r *run) record(res download.Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rec.End(time.Now(), res, err)
}
