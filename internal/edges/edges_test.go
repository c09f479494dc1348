package edges

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"braid/byterange"
	"braid/metalink/metainfo"
	"braid/source"
)

// Three files of a torrent share its only piece.
var files = [][]byte{[]byte("first file, "), []byte("second, "), []byte("and the third")}

// torrent returns their torrent with n web seeds.
func torrent(t *testing.T, n int) metainfo.Torrent {
	t.Helper()
	var list, seeds strings.Builder
	for i, f := range files {
		fmt.Fprintf(&list, "d6:lengthi%de4:pathl1:%dee", len(f), i)
	}
	for i := range n {
		fmt.Fprintf(&seeds, "17:http://%d.example/", i)
	}
	sum := sha1.Sum(bytes.Join(files, nil))
	parsed, err := metainfo.Parse(strings.NewReader(fmt.Sprintf(
		"d4:infod5:filesl%se4:name3:dir12:piece lengthi65536e6:pieces20:%se8:url-listl%see", &list, sum[:], &seeds)))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// copied is a file at one place.
type copied []byte

func (copied) Traits() source.Traits { return source.Traits{} }

func (c copied) Fetch(_ context.Context, r byterange.Range, w source.Sink) error {
	if err := w.Answer(source.Answer{Ranged: true, Start: r.Start, Size: int64(len(c))}); err != nil {
		return err
	}
	if _, err := w.WriteAt(c[r.Start:r.End], r.Start); err != source.ErrEnough {
		return err
	}
	return nil
}

// fetcher returns a fetcher for the second file. wrong lists the files of which a seed has other bytes, by the
// host of the seed; asked records each request.
func fetcher(t *testing.T, wrong map[string]string, asked *[]string) Fetcher {
	x := Fetcher{Torrent: torrent(t, len(wrong)), Known: New(), Patience: 1e9}
	x.File = x.Torrent.Files[1]
	x.Seed = func(u *url.URL) (source.Source, error) {
		name := u.Path[len(u.Path)-1:]
		*asked = append(*asked, u.Host[:1]+name)
		c := bytes.Clone(files[name[0]-'0'])
		if strings.Contains(wrong[u.Host[:1]], name) {
			c[0] ^= 1
		}
		return copied(c), nil
	}
	return x
}

// Each of two seeds has a wrong file. Together they have the piece, which is fetched once.
func TestPieceOfTwoSeeds(t *testing.T) {
	var asked []string
	x := fetcher(t, map[string]string{"0": "1", "1": "02"}, &asked)
	for range 2 {
		piece, err := x.Piece(t.Context(), 0)
		if err != nil || !bytes.Equal(piece, bytes.Join(files, nil)) {
			t.Fatalf("%q, %v", piece, err)
		}
	}
	if want := "[00 01 02 10 11 12]"; fmt.Sprint(asked) != want {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}

// Wrong bytes everywhere are no piece, and nothing is kept of them.
func TestPieceWrong(t *testing.T) {
	var asked []string
	x := fetcher(t, map[string]string{"0": "1", "1": "1"}, &asked)
	_, err := x.Piece(t.Context(), 0)
	if e, ok := errors.AsType[*source.Error](err); !ok || e.Fault != source.FaultMismatch {
		t.Errorf("%v, want an error about the bytes", err)
	}
	if len(x.Known.proven) > 0 {
		t.Errorf("kept %v", x.Known.proven)
	}
}

// A seed that was late is asked last for the next piece.
func TestLateSeedIsLast(t *testing.T) {
	var asked []string
	x := fetcher(t, map[string]string{"0": "", "1": "", "2": ""}, &asked)
	x.Known.late[0] = true
	if got := x.seeds(); fmt.Sprint(got) != "[1 2 0]" {
		t.Errorf("%v", got)
	}
}

// The oldest pieces are dropped, and the newest one is kept whatever its size.
func TestPiecesAreBounded(t *testing.T) {
	k := New()
	for i, n := range []int{maxBytes / 2, maxBytes / 2, 1, 2 * maxBytes} {
		k.add(i, make([]byte, n))
		if k.size > maxBytes && len(k.proven) > 1 {
			t.Errorf("%d bytes in %d pieces", k.size, len(k.proven))
		}
	}
	if len(k.proven) != 1 || k.proven[3] == nil || k.size != 2*maxBytes {
		t.Errorf("%d pieces, %d bytes", len(k.proven), k.size)
	}
}
