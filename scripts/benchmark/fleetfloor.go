//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// floorOfFleet measures the disk operations of a fleet's jobs without network, queue and digests. Each job writes a
// folder, a journal, a part file and the record of its URL, with three fsyncs, and three queue values, each of which is
// synced.
func (b *bench) floorOfFleet(atOnce int) (time.Duration, error) {
	dir, err := os.MkdirTemp(b.dir, "floor-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	f := &fleetFloor{dir: dir, data: make([]byte, fleetSize)}
	for i := range f.logs {
		if f.logs[i].File, err = os.Create(filepath.Join(dir, fmt.Sprint("log", i))); err != nil {
			return 0, err
		}
		defer f.logs[i].Close()
	}
	var next atomic.Int64
	var running sync.WaitGroup
	failed := make([]error, atOnce)
	began := time.Now()
	for i := range failed {
		running.Go(func() {
			for n := next.Add(1); n <= fleetJobs && failed[i] == nil; n = next.Add(1) {
				failed[i] = f.job(fmt.Sprintf("%04d.bin", n))
			}
		})
	}
	running.Wait()
	return time.Since(began), errors.Join(failed...)
}

// A fleetFloor is the folder of such jobs with the logs of the queue: one of records, one of messages.
type fleetFloor struct {
	dir  string
	data []byte
	logs [2]struct {
		sync.Mutex
		*os.File
	}
}

func (f *fleetFloor) job(name string) error {
	stage := filepath.Join(f.dir, name+".stage")
	part, journal, placing := filepath.Join(stage, name+".part"), filepath.Join(stage, name+".journal"), filepath.Join(stage, name)
	for _, step := range []func() error{
		func() error { return f.store(0, 1200) }, // taken
		func() error { return os.Mkdir(stage, 0o700) },
		func() error { return os.WriteFile(journal, f.data[:800], 0o600) },
		func() error { return os.WriteFile(part, f.data, 0o600) },
		func() error { return syncPath(part) },
		func() error { return os.Rename(part, placing) },
		func() error { return syncPath(stage) },
		func() error { return os.Remove(journal) },
		func() error { return os.WriteFile(filepath.Join(f.dir, name+".url"), f.data[:200], 0o600) },
		func() error { return os.Link(placing, filepath.Join(f.dir, name)) },
		func() error { return syncPath(f.dir) },
		func() error { return f.store(0, 1700) }, // done
		func() error { return f.store(1, 100) },  // message deleted
		func() error { return os.RemoveAll(stage) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// store appends a value to a log.
func (f *fleetFloor) store(log int, size int) error {
	l := &f.logs[log]
	l.Lock()
	defer l.Unlock()
	_, err := l.Write(f.data[:size])
	return errors.Join(err, l.Sync())
}

func syncPath(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
