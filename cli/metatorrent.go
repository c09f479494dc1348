package cli

import (
	"errors"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"braid/internal/fsys"
	"braid/metalink/metainfo"
)

// torrentFlags say whether there is to be a torrent beside each file, and which trackers know of it.
type torrentFlags struct {
	torrent  bool
	trackers cli.StringSlice
}

const torrentSuffix = ".torrent"

func (f *torrentFlags) targets() targets {
	return targets{
		"torrent": &f.torrent,
		"tracker": &f.trackers,
	}
}

// check refuses what is no tracker.
func (f *torrentFlags) check() error {
	trackers := f.trackers.Value()
	if len(trackers) > 0 && !f.torrent {
		return misuse("--tracker", "is named in a torrent, and none is written", "--torrent writes one")
	}
	for _, t := range trackers {
		if !metainfo.IsTracker(t) {
			return misuse("--tracker "+maskWord(t), "not an http, https or udp URL", "")
		}
	}
	return nil
}

// tiers are the trackers in order: each is asked when those before it do not answer (BEP 12).
func (f *torrentFlags) tiers() (tiers [][]string) {
	for t := range slices.Chunk(f.trackers.Value(), 1) {
		tiers = append(tiers, t)
	}
	return tiers
}

// makeTorrent is the torrent of a file whose pieces are of SHA-1. Its web seeds are the places that the Metalink document
// names, in the same order.
func (v *metaCommand) makeTorrent(f described) ([]byte, error) {
	t, err := metainfo.New(f.Name, f.sha1)
	if err != nil {
		return nil, err
	}
	t.Trackers = v.torrentFlags.tiers()
	var seeds []string
	for _, m := range f.Mirrors {
		seeds = append(seeds, m.URL.String())
	}
	return t.Format("braid", seeds)
}

// writeTorrent puts the torrent of the file at path beside it, if there is to be one.
func (v *metaCommand) writeTorrent(path string, f described, inputs []string) error {
	if !v.torrent {
		return nil
	}
	out := path + torrentSuffix
	data, err := v.makeTorrent(f)
	if err != nil {
		return metaFailure(out, err)
	}
	if err := v.checkOut(out, inputs, aTorrent); err != nil { // it took time
		return err
	}
	if err := fsys.WriteFile(out, data, 0o644); err != nil {
		return metaFailure(out, err)
	}
	v.tell("wrote %s", out)
	return nil
}

// errNothing: BEP 3 has no torrent of nothing.
var errNothing = errors.New("is empty, and there is no torrent of nothing")

// checkTorrents finds what would keep torrents from being written.
func (v *metaCommand) checkTorrents(paths, all []string) error {
	if !v.torrent {
		return nil
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return metaFailure(path, errNothing)
		}
		if err := v.checkOut(path+torrentSuffix, all, aTorrent); err != nil {
			return err
		}
	}
	return nil
}
