package daemon

import (
	"strings"
	"testing"

	"braid/daemon/queue"
)

// TestDraw checks that running downloads and the last ended ones can be drawn.
func TestDraw(t *testing.T) {
	s, b := newSite(t), newBench(t)
	s.holdAll()
	b.config.AtOnce = 1
	b.start()
	draw := func(g queue.GID, want string) {
		t.Helper()
		html, err := b.Draw(t.Context(), g)
		if err != nil || !strings.Contains(string(html), want) || want == "" && html != nil {
			t.Errorf("%v, without %q: %s", err, want, html)
		}
	}
	gids := b.add(s.urls(mostEnded+1, 1<<20)...)
	b.half(gids[0])
	draw(gids[0], "in use")
	draw(gids[1], "")
	b.do(func(q *queue.Queue) error { return q.Pause(gids[0]) })
	b.half(gids[1])
	draw(gids[0], "interrupted")
	b.do(func(q *queue.Queue) error { return q.Resume(gids[0]) })
	s.release()
	for _, g := range gids {
		b.awaitStatus(g, queue.Complete)
	}
	draw(gids[mostEnded], "complete and verified")
	draw(gids[1], "") // gids[0] ended after it, and both of its runs count
	b.stop()
	b.start()
	draw(gids[mostEnded], "")
}
