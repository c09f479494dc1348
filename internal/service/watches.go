package service

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"braid/daemon/page"
	"braid/internal/watch"
)

// statusTime is the time limit for the watcher to return its status.
const statusTime = 10 * time.Second

// watches returns the states of the watches for the page. The texts are those of braid watch status. The states of each
// watch begin with the URLs that will be tried again.
func (s *Service) watches(ctx context.Context) ([]page.Watch, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	status, err := s.Watching.Status(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]*page.Watch{}
	of := func(name string) *page.Watch {
		if all[name] == nil {
			all[name] = &page.Watch{Name: name}
		}
		return all[name]
	}
	for i := range status.Follows {
		f := &status.Follows[i]
		of(f.Name).Version, of(f.Name).Newest = f.Current, f.Newest
	}
	for i, text := range watch.States(&status) {
		w := &status.Watches[i]
		state := page.WatchState{Text: s.Log.Clean(text), Next: -1}
		if at := watch.NextTry(w); !at.IsZero() {
			state.Next = max(0, int64(time.Until(at).Seconds()))
		}
		of(w.Name).States = append(of(w.Name).States, state)
	}
	var list []page.Watch
	for _, name := range slices.Sorted(maps.Keys(all)) {
		slices.SortStableFunc(all[name].States, func(a, b page.WatchState) int {
			return cmp.Compare(min(0, b.Next), min(0, a.Next))
		})
		list = append(list, *all[name])
	}
	return list, nil
}
