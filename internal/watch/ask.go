package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"braid/antenna"
)

// Status says how feeds and watches stand.
func (s *service) Status(ctx context.Context) (antenna.Status, error) {
	now := s.current.Load()
	status, err := now.antenna.Status(ctx)
	if err == nil && now.of.by != nil {
		err = now.of.by.describe(ctx, status.Watches)
	}
	return status, err
}

// RunNow has a feed or a watch looked after now.
func (s *service) RunNow(ctx context.Context, name string) error {
	return s.current.Load().antenna.RunNow(ctx, name)
}

// Forget has a feed or a watch forgotten.
func (s *service) Forget(ctx context.Context, name string) error {
	return s.current.Load().forget(ctx, name)
}

// forget makes what is known of a feed or a watch unknown.
func (s *setup) forget(ctx context.Context, name string) error {
	return errors.Join(s.antenna.Forget(ctx, name), s.memory.Forget(name))
}

// Stored returns how feeds and watches stood last, where no watcher runs. It makes no store.
func (w *Watcher) Stored(ctx context.Context, c *Loaded) (antenna.Status, error) {
	s, done, err := w.offline(c)
	if err != nil {
		return antenna.Status{}, err
	}
	defer done()
	return s.antenna.Status(ctx)
}

// ForgetStored makes what is known of a feed or a watch unknown, where no watcher runs.
func (w *Watcher) ForgetStored(ctx context.Context, c *Loaded, name string) error {
	s, done, err := w.offline(c)
	if err != nil {
		return err
	}
	defer done()
	return s.forget(ctx, name)
}

// offline is a setup with what is stored, that does not run.
func (w *Watcher) offline(c *Loaded) (s *setup, done func(), err error) {
	var store *antenna.Store
	path := filepath.Join(c.Folder, storeFile)
	if _, err := os.Stat(path); err == nil {
		if store, err = antenna.OpenStore(path); err != nil {
			return nil, nil, storeFailure(err)
		}
	}
	log := NewServiceLog(w.Err, c.Log.Format)
	log.Configure(c)
	if s, err = newSetup(c, store, log.Logger); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return s, func() { store.Close() }, nil
}

// Has reports whether a feed or a watch has a name.
func (c *Loaded) Has(name string) bool {
	for _, f := range c.Feeds {
		if f.Name == name {
			return true
		}
	}
	for _, w := range c.Watches {
		if w.Watch.Name == name {
			return true
		}
	}
	return false
}
