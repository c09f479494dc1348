package queue

import (
	"maps"
	"slices"
	"time"
)

// Add adds e at a position among the waiting entries, or behind them if position is negative. The entry gets a new GID
// unless e has one. Its status is Paused if e is Paused, and otherwise Waiting. If e.Following is set, the GID of the
// new entry is added to the FollowedBy of that entry.
func (q *Queue) Add(now time.Time, e Entry, position int) (GID, error) {
	gids, err := q.AddAll(now, []Entry{e}, position)
	if err != nil {
		return 0, err
	}
	return gids[0], nil
}

// AddAll adds entries one after the other, as Add does. If one of them is refused, AddAll adds none. All entries must
// have the same Priority and the same Following.
func (q *Queue) AddAll(now time.Time, entries []Entry, position int) (gids []GID, err error) {
	items := make([]*item, 0, len(entries))
	for _, e := range entries {
		it, err := q.enter(now, e)
		if err != nil {
			for _, it := range items {
				delete(q.items.by, it.GID)
				q.order.number(it, -1)
			}
			return nil, err
		}
		items, gids = append(items, it), append(gids, it.GID)
	}
	if len(items) == 0 {
		return nil, nil
	}
	q.order.insert(position, items...)
	if parent := q.items.by[items[0].Following]; parent != nil {
		parent.FollowedBy = slices.Concat(parent.FollowedBy, gids)
		q.record.changed(parent)
	}
	return gids, nil
}

// enter adds e to q.items, but not to one of the lists.
func (q *Queue) enter(now time.Time, e Entry) (*item, error) {
	switch {
	case len(e.URIs) == 0 && len(e.Document) == 0 && q.items.by[e.Following] == nil:
		return nil, refuse("URI is not provided.")
	case q.items.taken(e.GID):
		return nil, refuse("GID %s is not unique.", e.GID)
	case e.GID == 0:
		e.GID = q.items.unused()
	}
	if e.Status != Paused {
		e.Status = Waiting
	}
	e.URIs, e.Options = slices.Clone(e.URIs), merged(nil, e.Options)
	e.Added, e.Began, e.Ended, e.Outcome, e.Done, e.Size, e.FollowedBy = now, time.Time{}, time.Time{}, Outcome{}, 0, -1, nil
	it := &item{Entry: e}
	q.items.by[e.GID] = it
	q.order.number(it, 1)
	return it, nil
}

// Pause pauses a waiting or active entry. An active entry goes to the front of the waiting entries of its priority.
func (q *Queue) Pause(g GID) error {
	it := q.items.by[g]
	if it == nil || it.Status != Waiting && it.Status != Active {
		return refuse("GID#%s cannot be paused now", g)
	}
	q.pause(it)
	return nil
}

func (q *Queue) pause(it *item) {
	if it.Status == Active {
		q.halt(it, Paused)
	} else {
		q.order.set(it, Paused)
	}
	q.record.tell(OnPause, it)
}

// halt stops the download of an active item. It moves the item to the front of the waiting list, with status s.
func (q *Queue) halt(it *item, s Status) {
	q.order.move(it, s, 0)
	q.record.stop(it)
}

// PauseAll pauses all waiting and active entries.
func (q *Queue) PauseAll() {
	for _, it := range q.order.lists[waits].items {
		if it.Status == Waiting {
			q.pause(it)
		}
	}
	for _, it := range slices.Backward(slices.Clone(q.order.lists[runs].items)) {
		q.pause(it)
	}
}

// Resume makes a paused entry wait where it is in the list, and a failed entry wait at the end of the list.
func (q *Queue) Resume(g GID) error {
	it := q.items.by[g]
	switch {
	case it != nil && it.Status == Paused:
		q.order.set(it, Waiting)
	case it != nil && it.Status == Failed:
		q.order.move(it, Waiting, -1)
		it.Ended, it.Outcome = time.Time{}, Outcome{Attempts: it.Outcome.Attempts}
	default:
		return refuse("GID#%s cannot be unpaused now", g)
	}
	return nil
}

// ResumeAll makes all paused entries wait.
func (q *Queue) ResumeAll() {
	for _, it := range q.order.lists[waits].items {
		if it.Status == Paused {
			q.order.set(it, Waiting)
		}
	}
}

// Remove stops a waiting, paused or active entry and moves it to the stopped entries. A failed entry of a watch is removed,
// too, because the watch would try it again.
func (q *Queue) Remove(now time.Time, g GID) error {
	it := q.items.by[g]
	if it == nil || it.Status.stopped() && (it.Status != Failed || it.Watch == "") {
		return refuse("Active Download not found for GID#%s", g)
	}
	if it.running && it.Status == Active {
		q.record.stop(it)
	}
	q.stop(now, it, Removed, Outcome{Code: codeRemoved, Attempts: it.Outcome.Attempts}, OnStop)
	return nil
}

// codeRemoved is aria2's error code of a removed download.
const codeRemoved = 31

// Forget removes a stopped entry from the queue.
func (q *Queue) Forget(g GID) error {
	it := q.items.by[g]
	if it == nil || !it.Status.stopped() {
		return refuse("Could not remove download result of GID#%s", g)
	}
	if q.items.needed(it) {
		return refuse("Could not remove download result of GID#%s: files of its document are still pending", g)
	}
	q.order.take(it)
	q.drop(it)
	return nil
}

// ForgetAll removes the stopped entries from the queue. It keeps entries with a document that another entry still needs.
func (q *Queue) ForgetAll() {
	var kept []*item
	for _, it := range slices.Backward(q.order.lists[stops].items) { // backward, because a document comes before its files
		if q.items.needed(it) {
			kept = append(kept, it)
		} else {
			q.drop(it)
		}
	}
	slices.Reverse(kept)
	q.order.lists[stops].items = kept
}

// A Whence is the base from where a position counts, as in [io.Seeker].
type Whence uint8

// The values of Whence.
const (
	FromStart Whence = iota
	FromHere
	FromEnd
)

// Move moves a waiting or paused entry to a position that counts from whence. A negative position is in front of whence. The
// result counts from the start. It may differ from the requested position, because of the list's length or the priority.
func (q *Queue) Move(g GID, position int, whence Whence) (int, error) {
	it := q.items.by[g]
	if it == nil || it.Status != Waiting && it.Status != Paused {
		return 0, refuse("GID#%s not found in the waiting queue.", g)
	}
	items := q.order.lists[waits].items
	switch whence {
	case FromHere:
		position += slices.Index(items, it)
	case FromEnd:
		position += len(items) - 1
	}
	q.order.take(it)
	return q.order.insert(max(position, 0), it), nil
}

// Change sets options of an entry that has not stopped. An empty value removes the option. The download of an active
// entry begins again, unless the changed options can take effect while it runs.
func (q *Queue) Change(g GID, options map[string]string) error {
	it := q.items.by[g]
	if it == nil || it.Status.stopped() {
		return refuse("Cannot change option for GID#%s", g)
	}
	now := merged(it.Options, options)
	if maps.Equal(now, it.Options) {
		return nil
	}
	q.reconsider(it, !equalBut(now, it.Options, whileRunning))
	it.Options = now
	return nil
}

// whileRunning is the only option that can take effect while a download runs.
const whileRunning = "max-download-limit"

func equalBut(a, b map[string]string, name string) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, name)
	delete(b, name)
	return maps.Equal(a, b)
}

// merged returns a copy of old with the options in more added, without empty values. If no option is left, it returns nil.
func merged(old, more map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, old)
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	if len(all) == 0 {
		return nil
	}
	return all
}

// reconsider records that an item is about to change. If the item is active, the argument again decides whether its
// download begins again or continues with the changed options.
func (q *Queue) reconsider(it *item, again bool) {
	q.record.changed(it)
	it.changed = it.changed || again
	switch {
	case it.Status != Active:
	case again:
		q.halt(it, Waiting)
	default:
		q.record.news.Changed = append(q.record.news.Changed, it.GID)
	}
}

// Restart makes the download of an active entry begin again.
func (q *Queue) Restart(g GID) {
	if it := q.items.by[g]; it != nil && it.Status == Active {
		q.halt(it, Waiting)
	}
}

// ChangeURIs sets the URIs of an entry that has not stopped. The download of an active entry begins again.
func (q *Queue) ChangeURIs(g GID, uris []string) error {
	it := q.items.by[g]
	if it == nil || it.Status.stopped() || len(uris) == 0 {
		return refuse("Cannot remove URIs from GID#%s", g)
	}
	if !slices.Equal(it.URIs, uris) {
		q.reconsider(it, true)
		q.order.relink(it, slices.Clone(uris))
		it.Relinked = it.Relinked || it.Outcome.Attempts > 0
	}
	return nil
}

// ChangeGlobal sets options that apply to all downloads. An empty value removes the option.
func (q *Queue) ChangeGlobal(options map[string]string) {
	if now := merged(q.global, options); !maps.Equal(now, q.global) {
		q.global, q.record.news.Global = now, now
		if now == nil {
			q.record.news.Global = map[string]string{}
		}
	}
}
