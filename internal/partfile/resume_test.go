package partfile

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/address"
	"braid/verify"
)

func digest(t *testing.T, a verify.Algorithm, fill byte) verify.Digest {
	t.Helper()
	d, err := verify.NewDigest(a, slices.Repeat([]byte{fill}, a.Size()))
	must(t, err)
	return d
}

func full(t *testing.T) Identity {
	return Identity{
		URL: "https://a.example/x?*", URLSum: "sum", Size: 1 << 40,
		Claims: []verify.Claim{
			{Digest: digest(t, verify.SHA512, 1), Field: "Repr-Digest", Channel: verify.HTTPS},
			{Digest: digest(t, verify.MD5, 2), Field: "--checksum", Channel: verify.User},
		},
		Yielding:     []verify.Claim{{Digest: digest(t, verify.SHA256, 3), Field: "SHA256SUMS", Channel: verify.Signed}},
		Listed:       []verify.Claim{{Digest: digest(t, verify.SHA256, 3), Field: "SHA256SUMS", Channel: verify.Signed}},
		Denied:       []verify.Claim{{Digest: digest(t, verify.SHA256, 4), Field: "Digest", Channel: verify.HTTPS}},
		ETag:         "\"\xff\x80 not UTF-8\"",
		LastModified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Mirrors: []Mirror{{"https://b.example/x", 1, true, "DE", address.Private}, {"ftp://c.example/x", 999999,
			false, "", 0}},
	}
}

// The next run gets the last identity, and the bytes that are present.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	want := content(3 << 20)
	f := begun(t, dir, want[:1<<20], 0)
	put(t, f, want[2<<20:], 2<<20)
	must(t, f.Begin(full(t)))
	must(t, f.Close())

	f = open(t, dir)
	id, ok := f.Prior()
	if !ok || !reflect.DeepEqual(id, full(t)) {
		t.Errorf("prior is %+v, %v", id, ok)
	}
	must(t, f.Recover(t.Context()))
	wantHave(t, f, span(0, 1<<20), span(2<<20, 3<<20))
	if f.Front() != 1<<20 || f.Aside() != "" {
		t.Errorf("front %d, aside %q", f.Front(), f.Aside())
	}
	must(t, f.Begin(id))
	put(t, f, want[1<<20:2<<20], 1<<20)
	must(t, f.Commit(proof(t, want), Final{}))
	wantContent(t, in(dir, "x"), want)
}

// A journal of a version without Yielding, Listed and Denied is decoded without them.
func TestIdentityWithoutYielding(t *testing.T) {
	id := full(t)
	id.Yielding, id.Listed, id.Denied = nil, nil, nil
	payload, err := id.encode()
	must(t, err)
	if bytes.Contains(payload, []byte("Yielding")) || bytes.Contains(payload, []byte("Denied")) ||
		bytes.Contains(payload, []byte("Listed")) {
		t.Errorf("%s", payload)
	}
	if got, err := decodeIdentity(payload); err != nil || !reflect.DeepEqual(got, id) {
		t.Errorf("%+v, %v", got, err)
	}
}

// What the request gave, or a list that it named, is told from what the server stated. No signature is taken from a journal.
func TestGiven(t *testing.T) {
	claim := func(fill byte, c verify.Channel) verify.Claim {
		return verify.Claim{Digest: digest(t, verify.SHA256, fill), Field: "it", Channel: c}
	}
	id := Identity{
		Claims: []verify.Claim{claim(1, verify.User), claim(2, verify.HTTPS), claim(3, verify.HTTPS), claim(4, verify.Signed)},
		Listed: []verify.Claim{claim(3, verify.HTTPS), claim(4, verify.Signed), claim(5, verify.HTTPS)},
	}
	want := []verify.Claim{claim(1, verify.User), claim(3, verify.HTTPS), claim(4, verify.HTTP)}
	if got := id.Given(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An identity that is too long for a record is stored without its mirrors.
func TestLongIdentity(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)
	id := full(t)
	id.Mirrors = slices.Repeat([]Mirror{{URL: strings.Repeat("u", 8<<10)}}, 2000)
	must(t, f.Begin(id))
	must(t, f.Close())
	f = open(t, dir)
	id.Mirrors = nil
	if got, ok := f.Prior(); !ok || !reflect.DeepEqual(got, id) {
		t.Errorf("prior is %+v, %v", got, ok)
	}
}

func TestRecoverCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	must(t, begun(t, dir, []byte("abc"), 0).Close())
	f := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Recover(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	must(t, f.Close())
	wantHave(t, recovered(t, dir), span(0, 3))
}

// Bytes that are of no use for one run stay for the next one if no others come.
func TestResetOfNoUse(t *testing.T) {
	for name, end := range map[string]func(*File) error{
		"closed":    (*File).Close,
		"discarded": (*File).Discard,
		"restarted": func(f *File) error { return errors.Join(f.Restart(), f.Discard()) },
		"killed":    func(f *File) error { crash(f); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, begun(t, dir, []byte("right bytes"), 0).Close())
			f := open(t, dir)
			must(t, f.Reset("another digest was given"))
			must(t, end(f))
			wantFiles(t, dir, "x.part", "x.part.journal")
			wantHave(t, recovered(t, dir), span(0, 11))
		})
	}
}

// A changed byte makes its run missing, and no other bytes.
func TestFlippedByte_Rule8(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, content(3 * runSize)[:runSize], 0)
	put(t, f, content(3 * runSize)[runSize:2*runSize], runSize)
	put(t, f, content(3 * runSize)[2*runSize:], 2*runSize)
	must(t, f.Close())
	p := read(t, in(dir, "x.part"))
	p[runSize+5] ^= 0x10
	write(t, in(dir, "x.part"), p)
	wantHave(t, recovered(t, dir), span(0, runSize), span(2*runSize, 3*runSize))
}

// A part file that became shorter has only the rest, and a missing one has no bytes.
func TestShortPart_Rule8(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, content(runSize), 0)
	put(t, f, content(100), runSize)
	must(t, f.Close())
	must(t, os.Truncate(in(dir, "x.part"), runSize+99))
	f = recovered(t, dir)
	wantHave(t, f, span(0, runSize))
	must(t, f.Close())
	must(t, os.Remove(in(dir, "x.part")))
	f = open(t, dir)
	if id, ok := f.Prior(); ok {
		t.Errorf("prior without a part file: %+v", id)
	}
	must(t, f.Close())
	wantFiles(t, dir)
}

// For every truncation of the journal, the remaining bytes are right, and nothing panics.
func TestTornJournal_Rule8(t *testing.T) {
	dir := t.TempDir()
	p := content(300)
	f := begun(t, dir, nil, 0)
	var ends []int64 // of the journal, after each 100 bytes
	for off := int64(0); off < 300; off += 100 {
		put(t, f, p[off:off+100], off)
		must(t, f.Flush())
		ends = append(ends, f.store.journal.size)
	}
	crash(f)
	journal := read(t, in(dir, "x.part.journal"))
	for n := range len(journal) + 1 {
		write(t, in(dir, "x.part"), p)
		write(t, in(dir, "x.part.journal"), journal[:n])
		f := recovered(t, dir)
		var want int64
		for i, end := range ends {
			if int64(n) >= end {
				want = int64(i+1) * 100
			}
		}
		wantHave(t, f, span(0, want))
		// Records after the torn tail are valid.
		must(t, f.Begin(Identity{}))
		put(t, f, p[:want], 1000)
		put(t, f, p, 2000)
		must(t, f.Flush())
		crash(f)
		wantHave(t, recovered(t, dir), span(0, want), span(1000, 1000+want), span(2000, 2300))
		for _, name := range []string{"x.part.bad", "x.part", "x.part.journal"} {
			os.Remove(in(dir, name))
		}
	}
}

// A foreign journal is set aside together with the part file, and never trusted.
func TestForeignJournal_Rule8(t *testing.T) {
	good := t.TempDir()
	must(t, begun(t, good, []byte("abc"), 0).Close())
	journal := read(t, in(good, "x.part.journal"))
	later := laterVersion(journal)
	later[12] ^= 1 // its checksum is wrong
	damaged := slices.Clone(journal)
	damaged[0] ^= 1
	for name, journal := range map[string][]byte{
		"garbage": content(1000), "later version, damaged": later, "damaged": damaged, "text": []byte("{}\n"),
		"zeros": make([]byte, 50),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, in(dir, "x.part"), []byte("abc"))
			write(t, in(dir, "x.part.bad"), []byte("older"))
			write(t, in(dir, "x.part.journal"), journal)
			f := open(t, dir)
			if _, ok := f.Prior(); ok {
				t.Error("was trusted")
			}
			if a := f.Aside(); !strings.Contains(a, "x.2.part.bad: ") || !strings.Contains(a, "x.part.journal.bad: ") {
				t.Errorf("aside is %q", a)
			}
			wantContent(t, in(dir, "x.part.bad"), []byte("older"))
			wantContent(t, in(dir, "x.2.part.bad"), []byte("abc"))
			wantContent(t, in(dir, "x.part.journal.bad"), journal)
			must(t, f.Begin(Identity{}))
			put(t, f, []byte("new"), 0)
			must(t, f.Close())
			wantHave(t, recovered(t, dir), span(0, 3))
		})
	}
}

// A foreign NAME.part, such as that of a browser or of the user, is not overwritten. It still exists after the commit.
func TestForeignPart_Rule8(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "x.part"), []byte("theirs"))
	f := open(t, dir)
	if !strings.HasPrefix(f.Aside(), in(dir, "x.part.bad")+": ") {
		t.Errorf("aside is %q", f.Aside())
	}
	must(t, f.Begin(Identity{}))
	put(t, f, []byte("ours"), 0)
	must(t, f.Commit(proof(t, []byte("ours")), Final{}))
	wantContent(t, in(dir, "x"), []byte("ours"))
	wantContent(t, in(dir, "x.part.bad"), []byte("theirs"))
}

// The bytes of another file are set aside, and the new file begins without them.
func TestReset_Rule8(t *testing.T) {
	dir := t.TempDir()
	must(t, begun(t, dir, []byte("old bytes"), 0).Close())
	f := open(t, dir)
	must(t, f.Reset("the size was 9 and is 3"))
	if _, ok := f.Prior(); ok || !f.Useless() {
		t.Error("the bytes of the other file are still of use")
	}
	must(t, f.MakeWay())
	if want := in(dir, "x.part.bad") + ": the size was 9 and is 3"; f.Aside() != want {
		t.Errorf("aside is %q, want %q", f.Aside(), want)
	}
	wantHave(t, f)
	must(t, f.Begin(Identity{}))
	put(t, f, []byte("new"), 0)
	must(t, f.Flush())
	crash(f)
	wantContent(t, in(dir, "x.part.bad"), []byte("old bytes"))
	wantContent(t, in(dir, "x.part"), []byte("new"))
	wantHave(t, recovered(t, dir), span(0, 3))
}

// The file has changed on the server: all bytes are discarded and never mixed with new ones.
func TestRestart_Rule34(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("version one"), 0)
	must(t, f.Sync())
	must(t, f.Restart())
	_, err := f.WriteAt([]byte("a"), 0)
	wantStateError(t, err) // a late writer of the old version
	wantHave(t, f)
	must(t, f.Begin(Identity{URL: "two"}))
	put(t, f, []byte("two"), 8)
	must(t, f.Flush())
	crash(f)
	f = open(t, dir)
	if id, ok := f.Prior(); !ok || id.URL != "two" {
		t.Errorf("prior is %+v, %v", id, ok)
	}
	must(t, f.Recover(t.Context()))
	wantHave(t, f, span(8, 11))
	wantContent(t, in(dir, "x.part"), []byte("\x00\x00\x00\x00\x00\x00\x00\x00two"))
}

// An interrupted Restart or Reset leaves a journal without bytes, from which nothing is resumed.
func TestStoppedInReset_Rule6(t *testing.T) {
	dir := t.TempDir()
	must(t, begun(t, dir, []byte("old"), 0).Close())
	must(t, os.Truncate(in(dir, "x.part"), 0))
	f := open(t, dir)
	if _, ok := f.Prior(); ok {
		t.Error("prior without bytes")
	}
	must(t, f.Begin(Identity{}))
	put(t, f, []byte("n"), 0)
	must(t, f.Flush())
	crash(f)
	wantHave(t, recovered(t, dir), span(0, 1))
}

// Void is recorded, and the neighboring bytes of the same record are not lost.
func TestVoidIsRecorded(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, content(runSize), 0)
	put(t, f, content(1000), runSize+5)
	must(t, voided(f, span(1000, 2000)))
	must(t, voided(f, span(runSize, runSize+6)))
	crash(f)
	f = recovered(t, dir)
	wantHave(t, f, span(0, 1000), span(2000, runSize), span(runSize+6, runSize+1005))
	must(t, f.Begin(Identity{}))
	put(t, f, make([]byte, 1000), 1000)
	must(t, voided(f, span(0, 1<<62)))
	put(t, f, []byte("a"), 0)
	must(t, f.Flush())
	crash(f)
	wantHave(t, recovered(t, dir), span(0, 1))
}

// The number of runs that wait for the journal is bounded, however scattered they are.
func TestManyRuns(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, nil, 0)
	for i := range int64(maxRuns) {
		put(t, f, []byte("a"), 2*i)
	}
	crash(f)
	f = recovered(t, dir)
	if have := f.Have(); have.Count() != maxRuns {
		t.Errorf("%d runs were recorded, want %d", have.Count(), maxRuns)
	}
}

func TestSumURL(t *testing.T) {
	sum := func(s string) string {
		u, err := url.Parse(s)
		must(t, err)
		return SumURL(u)
	}
	a := sum("https://h.example/x?token=secret")
	if a != sum("https://me:password@h.example/x?token=secret#part") {
		t.Error("password or fragment make a difference")
	}
	if a == sum("https://h.example/x?token=other") || a == sum("http://h.example/x?token=secret") {
		t.Error("another URL has the same sum")
	}
	if strings.Contains(a, "secret") || len(a) != 32 {
		t.Errorf("sum is %q", a)
	}
}

// Records after a damaged one are ignored, even when new records are written before them.
func TestDamagedRecord_Rule8(t *testing.T) {
	for name, at := range map[string]int64{"a start that cannot be": 7, "another start": 5, "another sum of the bytes": 5 + 16} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := begun(t, dir, []byte("aaa"), 0)
			must(t, f.Flush())
			end := f.store.journal.size
			put(t, f, []byte("bbb"), 100)
			must(t, f.Flush())
			put(t, f, []byte("ccc"), 200)
			must(t, f.Flush())
			crash(f)
			journal := read(t, in(dir, "x.part.journal"))
			journal[end+at] ^= 1
			write(t, in(dir, "x.part.journal"), journal)
			wantHave(t, recovered(t, dir), span(0, 3))
			if got := read(t, in(dir, "x.part.journal")); int64(len(got)) != end {
				t.Errorf("the journal has %d bytes, want the %d good ones", len(got), end)
			}
		})
	}
}
