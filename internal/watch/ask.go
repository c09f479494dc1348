package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"braid/antenna"
	"braid/download"
	"braid/internal/problem"
)

func (s *service) Status(ctx context.Context) (antenna.Status, error) {
	now := s.current.Load()
	status, err := now.antenna.Status(ctx)
	if err == nil && now.of.by != nil {
		err = now.of.by.describe(ctx, status.Watches)
	}
	return status, err
}

// RunNow checks a feed or watch now.
func (s *service) RunNow(ctx context.Context, name string) error {
	now := s.current.Load()
	if now.of.by != nil {
		if err := want(ctx, now.of.by, name); err != nil {
			return err
		}
	}
	return now.antenna.RunNow(ctx, name)
}

// Forget removes the state of a feed or watch.
func (s *service) Forget(ctx context.Context, name string) error {
	return s.current.Load().forget(ctx, name)
}

// ForgetVersion makes a watch never fetch a version.
func (s *service) ForgetVersion(ctx context.Context, name, version string) error {
	return s.current.Load().forgetVersion(ctx, name, version)
}

// forget removes the state of a feed or watch from the store and the memory.
func (s *setup) forget(ctx context.Context, name string) error {
	return errors.Join(s.antenna.Forget(ctx, name), s.memory.Forget(name))
}

// Stored returns the stored status of feeds and watches while no watcher runs. It does not create a store.
func (w *Watcher) Stored(ctx context.Context, c *Loaded) (antenna.Status, error) {
	s, done, err := w.offline(c)
	if err != nil {
		return antenna.Status{}, err
	}
	defer done()
	return s.antenna.Status(ctx)
}

// ForgetStored removes the stored state of a feed or watch while no watcher runs.
func (w *Watcher) ForgetStored(ctx context.Context, c *Loaded, name string) error {
	s, done, err := w.offlineToChange(c)
	if err != nil {
		return err
	}
	defer done()
	return s.forget(ctx, name)
}

// ForgetStoredVersion makes a watch never fetch a version. No watcher may be running.
func (w *Watcher) ForgetStoredVersion(ctx context.Context, c *Loaded, name, version string) error {
	s, done, err := w.offlineToChange(c)
	if err != nil {
		return err
	}
	defer done()
	return s.forgetVersion(ctx, name, version)
}

// offlineToChange is like offline, but returns an error if the store is a copy of the state in a queue.
func (w *Watcher) offlineToChange(c *Loaded) (*setup, func(), error) {
	if err := refuseCopy(c, "watch forget"); err != nil {
		return nil, nil, err
	}
	return w.offline(c)
}

// refuseCopy returns an error for a command if the store is, or will be, a copy of the state in a queue. A watcher that
// begins to lead here replaces the store, so that the change would be lost.
func refuseCopy(c *Loaded, command string) error {
	if _, err := os.Stat(filepath.Join(c.Folder, copyFile)); err != nil {
		return nil
	}
	return &problem.Problem{Kind: download.Local, What: command, Where: c.Folder,
		Why:  "no leading watcher runs here, and the state here is a copy of that in the queue",
		Hint: "start braid watch --queue, and give this command on the machine whose watcher leads"}
}

// offline returns a setup that has the stored state and does not run.
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

// Has reports whether a feed or watch is called name.
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
