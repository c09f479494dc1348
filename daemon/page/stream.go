package page

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/daemon/queue"
)

// A change is the data of one event in the stream.
type change struct {
	All  bool     `json:"all,omitempty"`  // the event replaces all data sent before
	More bool     `json:"more,omitempty"` // the next event is a part of the same change
	Rows []row    `json:"rows,omitempty"`
	Gone []string `json:"gone,omitempty"`
	Live []live   `json:"live"` // all active downloads, whether changed or not
}

const (
	mostRows  = 1000             // in one event
	heartbeat = 5 * time.Second  // maximum time between two messages; without one, the page assumes a lost connection
	sendTime  = 30 * time.Second // time to send one event to a page that does not read
)

func newEpoch() string { return rand.Text()[:10] }

// version returns the version in id, a Last-Event-ID field. It returns 0 if another process wrote id.
func (h *Handler) version(id string) uint64 {
	rest, ok := strings.CutPrefix(id, h.epoch+"-")
	v, err := strconv.ParseUint(rest, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return v
}

// events sends the entries that changed since the event in the Last-Event-ID field or, without one, all entries. Then
// it sends all changes.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	if !h.Admit(w, r) {
		return
	}
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	if err := h.engine.Do(r.Context(), func(*queue.Queue) error { return nil }); err != nil {
		http.Error(w, "the queue cannot be read now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx would buffer the events
	s := &stream{h: h, w: w, control: http.NewResponseController(w),
		version: h.version(r.Header.Get("Last-Event-ID")), first: true}
	tick := time.NewTicker(h.Every)
	defer tick.Stop()
	for s.step(r.Context()) == nil {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// A stream is the stream of events to one page.
type stream struct {
	h       *Handler
	w       http.ResponseWriter
	control *http.ResponseController
	version uint64
	live    []live // as last sent
	sent    time.Time
	first   bool
}

// step sends all changes since the last step, or a heartbeat if one is due.
func (s *stream) step(ctx context.Context) error {
	var d queue.Delta
	now := []live{}
	err := s.h.engine.Do(ctx, func(q *queue.Queue) error {
		d = q.Since(s.version)
		for _, e := range q.Active() {
			if l, ok := q.Live(e.GID); ok {
				now = append(now, liveOf(e.GID, &l))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if d.Version == s.version && slices.Equal(now, s.live) && !s.first {
		if time.Since(s.sent) < heartbeat {
			return nil
		}
		return s.send(": here\n\n")
	}
	s.live, s.first = now, false
	return s.tell(&d)
}

// tell sends d, in several events if it is large. Only the last of these events has an ID. After a lost connection, a
// change that was sent in part is therefore sent again completely.
func (s *stream) tell(d *queue.Delta) error {
	c := change{All: d.All, Live: s.live}
	for _, g := range d.Gone {
		c.Gone = append(c.Gone, g.String())
	}
	entries := d.Entries
	for {
		n := min(len(entries), mostRows)
		c.Rows = make([]row, n)
		for i := range n {
			c.Rows[i] = rowOf(&entries[i], s.h.Folder)
		}
		entries = entries[n:]
		c.More = len(entries) > 0
		id := ""
		if !c.More {
			id = fmt.Sprintf("id: %s-%d\n", s.h.epoch, d.Version)
		}
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := s.send(id + "data: " + string(data) + "\n\n"); err != nil {
			return err
		}
		if !c.More {
			s.version = d.Version
			return nil
		}
		c.All, c.Gone = false, nil
	}
}

func (s *stream) send(text string) error {
	s.sent = time.Now()
	s.control.SetWriteDeadline(s.sent.Add(sendTime)) // fails for an httptest.ResponseRecorder
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
