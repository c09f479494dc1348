package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"braid/internal/fsys"
	"braid/verify"
)

// The cache file consists of a header line and a cachedFolder in JSON. The header line identifies the format and
// contains the CRC-32C of the rest. If the cache file is damaged, the files are hashed again.
const (
	cacheHeader = "braid digests 1 crc32c=%08x\n"
	// maxCache limits the size of the cache file. The cache of a folder with 100 000 files and maxPieces is smaller.
	maxCache = 256 << 20
	// maxPieces limits the number of pieces that are stored. It is enough for 3 TiB in files of 1 GiB. Further files
	// are read again in the next run.
	maxPieces = 3 << 20
	// savePause is the minimum time between two writes of the cache file.
	savePause = time.Second
)

// cachedFolder holds the results for the files of one folder, and its path. A file in another folder may have the same
// name, size and time, but other bytes.
type cachedFolder struct {
	Folder string       `json:"folder"`
	Files  []cachedFile `json:"files"`
}

type cachedFile struct {
	Name string `json:"name"`
	stamp
	SHA256    string `json:"sha-256"`
	Early     bool   `json:"early,omitempty"`  // read before the file was quiet
	Twice     bool   `json:"twice,omitempty"`  // another version of the file had a time in the same second
	Pieces    []byte `json:"pieces,omitempty"` // SHA-256 digests of pieces of length verify.PieceLength
	Signature string `json:"signature,omitempty"`
	Signer    string `json:"signer,omitempty"` // the key that made Signature
}

// load reads the cache file. It runs before other goroutines can access d.
func (d *digests) load() {
	if d.file == "" {
		return
	}
	err := d.readCache()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.LogAttrs(d.ctx, slog.LevelWarn, "digests are not read from the cache file",
			slog.String("file", printable(d.file)), slog.String("error", printable(err.Error())))
	}
}

func (d *digests) readCache() error {
	f, err := os.Open(d.file)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCache+1))
	if err != nil {
		return err
	}
	cache, err := decodeCache(data)
	if err != nil {
		return err
	}
	if cache.Folder != d.folder {
		return fmt.Errorf("it belongs to another folder: %q", cache.Folder)
	}
	for _, c := range cache.Files {
		d.remember(c)
	}
	return nil
}

// decodeCache decodes the output of encodeCache. Any other data is an error.
func decodeCache(data []byte) (cachedFolder, error) {
	header, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(header)+"\n" != cacheHeaderOf(rest) {
		return cachedFolder{}, errors.New("it is damaged or in another format")
	}
	var cache cachedFolder
	return cache, json.Unmarshal(rest, &cache)
}

func encodeCache(cache cachedFolder) ([]byte, error) {
	rest, err := json.Marshal(cache)
	return append([]byte(cacheHeaderOf(rest)), rest...), err
}

func cacheHeaderOf(rest []byte) string {
	return fmt.Sprintf(cacheHeader, crc32.Checksum(rest, crc32.MakeTable(crc32.Castagnoli)))
}

// remember stores an entry of the cache file, if the file still exists with the same modification second.
func (d *digests) remember(c cachedFile) {
	info, err := d.root.Stat(filepath.FromSlash(c.Name))
	if err != nil || info.ModTime().Unix() != c.Sec { // hash needs an entry with the same second, for twice
		return
	}
	digest, err := verify.ParseHex(verify.SHA256, c.SHA256)
	if err != nil {
		return
	}
	k := known{stamp: c.stamp, early: c.Early, facts: facts{digest: digest, twice: c.Twice}}
	if k.pieces, err = piecesFrom(c.Pieces, c.Size); err == nil || c.Size == 0 {
		k.has.pieces = true
	}
	if d.signer != nil && c.Signature != "" && c.Signer == d.signer.Key() {
		k.signature, k.has.signature = c.Signature, true
	}
	d.known.put(c.Name, k)
}

// cached returns the cache entry for k. It has the pieces of k if *room suffices for them, and reduces *room.
func (d *digests) cached(name string, k known, room *int) cachedFile {
	c := cachedFile{Name: name, stamp: k.stamp, SHA256: k.digest.Hex(), Early: k.early, Twice: k.twice}
	if n := k.pieces.Count(); n <= *room {
		*room -= n
		c.Pieces = pieceList(k.pieces)
	}
	if k.signature != "" {
		c.Signature, c.Signer = k.signature, d.signer.Key()
	}
	return c
}

// saveSoon starts a goroutine that writes the cache file. If one is running, that goroutine writes the file again after
// savePause. The caller holds d.mu.
func (d *digests) saveSoon() {
	if d.file == "" {
		return
	}
	d.dirty = true
	if !d.saving {
		d.saving = true
		d.wg.Go(d.save)
	}
}

// save writes the cache file until no change is left.
func (d *digests) save() {
	for {
		cache, ok := d.unsaved()
		if !ok {
			return
		}
		data, err := encodeCache(cache)
		if err == nil {
			err = fsys.WriteFile(nil, d.file, data, 0o600)
		}
		if err != nil {
			d.log.LogAttrs(d.ctx, slog.LevelWarn, "cannot write the cache file",
				slog.String("file", printable(d.file)), slog.String("error", printable(err.Error())))
		}
		select {
		case <-time.After(savePause):
		case <-d.ctx.Done(): // write the last changes without a pause
		}
	}
}

// unsaved returns the content to write, if there are changes.
func (d *digests) unsaved() (cachedFolder, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dirty {
		d.saving = false
		return cachedFolder{}, false
	}
	d.dirty = false
	cache := cachedFolder{Folder: d.folder}
	room := maxPieces
	d.known.all(func(name string, k known) {
		cache.Files = append(cache.Files, d.cached(name, k, &room))
	})
	return cache, true
}
