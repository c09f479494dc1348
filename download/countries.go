package download

import (
	"context"
	"sync"
	"time"

	"braid/metalink"
)

// Mirrors of which nobody says where they are, are looked up so many at a time, and for so long in all: who is found later stands
// behind, as it did before.
const (
	lookups      = 16
	lookupsLimit = time.Second
)

// sortByCountry puts the mirrors that are where the request wants them before the others.
func (r *Request) sortByCountry(ctx context.Context, mirrors []metalink.Mirror) {
	if len(r.Locations) == 0 {
		return
	}
	if r.Country != nil {
		r.lookUpCountries(ctx, mirrors)
	}
	metalink.Near(mirrors, r.Locations...)
}

// lookUpCountries asks where mirrors are of which no server and no document says so.
func (r *Request) lookUpCountries(ctx context.Context, mirrors []metalink.Mirror) {
	ctx, cancel := context.WithTimeout(ctx, lookupsLimit)
	defer cancel()
	var group sync.WaitGroup
	free := make(chan struct{}, lookups)
	for i := range mirrors {
		if m := &mirrors[i]; m.Geo == "" {
			free <- struct{}{}
			group.Go(func() {
				m.Geo = r.Country(ctx, m.URL)
				<-free
			})
		}
	}
	group.Wait()
}
