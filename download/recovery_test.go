package download

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var (
	outcomeNames = []string{"ongoing", "failed", "wantsHead", "gotDocument", "sizeDisowned", "fileChanged",
		"notMergeable", "partTouched",
		"otherFile", "wrongDigest", "wrongSize", "noSource"}
	wayNames = []string{"askHead", "dropSize", "dropRecalled", "nextVersion", "withoutServer", "compareSamples",
		"beginAnew", "reread", "findWrong", "oneAlone", "standIn", "withoutPieces", "askPeers", "blamePlace",
		"blameDocument", "keepRefuted", "discard"}
)

// The table has every pair of a history and an outcome with its ways, in order. A pair that is not listed is
// final.
func TestRecovery_Rule15_Rule30_Rule34_Rule40_Rule43(t *testing.T) {
	once := history{changes: 1, restarts: 1, touched: 1, tries: 5}
	with := func(change func(*history)) history {
		h := once
		change(&h)
		return h
	}
	for _, tt := range []struct {
		name string
		h    history
		want string
	}{
		{"for the first time", once, `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"bytes that only a list ties", with(func(h *history) { h.nearby = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong beginAnew
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"the file of a mirror in place of the server's", with(func(h *history) { h.stoodIn = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong standIn
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"one source at a time, and not the server", with(func(h *history) { h.stoodIn, h.single = true, true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread oneAlone
			wrongDigest: reread oneAlone discard
			wrongSize: oneAlone discard
			noSource: oneAlone discard`},
		{"too often", with(func(h *history) { h.changes, h.restarts, h.touched = 2, 5, mostTouched+1 }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			notMergeable: standIn
			otherFile: reread findWrong
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"one source at a time", with(func(h *history) { h.single = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread
			wrongDigest: reread oneAlone discard
			wrongSize: oneAlone discard
			noSource: oneAlone discard`},
		{"one at a time, too often", with(func(h *history) {
			h.single, h.changes, h.restarts, h.touched = true, 2, 5,
				mostTouched+1
		}), `
			wantsHead: askHead
			sizeDisowned: dropSize
			notMergeable: standIn oneAlone
			otherFile: reread
			wrongDigest: reread oneAlone discard
			wrongSize: oneAlone discard
			noSource: oneAlone discard`},
		{"to a stream that has nothing yet", with(func(h *history) { h.pipe = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			wrongDigest: oneAlone discard
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"to a store, from several", with(func(h *history) { h.pipe, h.several = true, true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			otherFile: oneAlone
			wrongDigest: oneAlone discard
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"to a stream that has some of it", with(func(h *history) { h.pipe, h.out = true, true }), `
			wantsHead: askHead
			wrongDigest: discard
			wrongSize: discard
			noSource: withoutPieces askPeers`},
		{"proven by the user's pieces", with(func(h *history) { h.byPieces = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread
			noSource: withoutPieces askPeers standIn`},
		{"places of a document without a strong digest", with(func(h *history) { h.listed = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread blamePlace standIn discard
			wrongSize: blamePlace standIn discard
			noSource: withoutPieces askPeers standIn`},
		{"a document that contradicts itself", with(func(h *history) { h.listed, h.contradicted = true, true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread blameDocument
			wrongSize: blameDocument
			noSource: withoutPieces askPeers standIn`},
		{"a size that no authority of the digest gave", with(func(h *history) { h.contested, h.digest = true, true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread findWrong dropSize keepRefuted
			wrongSize: dropSize oneAlone discard
			noSource: withoutPieces askPeers dropSize`},
		{"a digest of an authority", with(func(h *history) { h.digest = true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers`},
		{"a digest of an authority, to a stream that has nothing yet", with(func(h *history) { h.digest, h.pipe = true, true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			wrongDigest: oneAlone discard
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"HEAD was asked twice", with(func(h *history) { h.heads = mostHeads }), `
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers standIn`},
		{"many sizes were given up", with(func(h *history) { h.contested, h.digest, h.drops = true, true, mostDrops }), `
			wantsHead: askHead
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers`},
		{"a digest of an earlier run that yields", with(func(h *history) { h.digest, h.recalled = true, true }), `
			wantsHead: askHead
			sizeDisowned: dropSize
			fileChanged: nextVersion withoutServer
			notMergeable: compareSamples beginAnew
			partTouched: reread
			otherFile: reread findWrong
			wrongDigest: reread dropRecalled findWrong keepRefuted
			wrongSize: oneAlone discard
			noSource: withoutPieces askPeers`},
	} {
		got := ""
		for o := range outcome(len(outcomeNames)) {
			if ways := tt.h.ways(o); len(ways) > 0 {
				got += "\n" + outcomeNames[o] + ":"
				for _, w := range ways {
					got += " " + wayNames[w]
				}
			}
		}
		if want := strings.ReplaceAll(tt.want, "\t", ""); got != want {
			t.Errorf("%s: got%s\nwant%s", tt.name, got, want)
		}
	}
}

// In all cases: bytes that were streamed are never sent again, only the end follows a way that discards or
// keeps the file, and no way is tried twice.
func TestRecoveryAlways(t *testing.T) {
	flags := 9
	for bits := range 1 << flags {
		on := func(i int) bool { return bits>>i&1 == 1 }
		for count := range 3 {
			h := history{changes: count, restarts: count, tries: 2, touched: count * mostTouched, single: on(0),
				pipe: on(1) || on(2), out: on(2),
				byPieces: on(3), listed: on(4), contradicted: on(5), contested: on(6), digest: on(7), recalled: on(8),
				mixed: on(3) != on(8), heads: count}
			for o := range outcome(len(outcomeNames)) {
				ways := h.ways(o)
				name := fmt.Sprintf("%+v, %s: %v", h, outcomeNames[o], ways)
				last := func(w way) bool { return w == discard || w == keepRefuted || w == blameDocument }
				for i, w := range ways {
					if h.out && (w.fromStart() || w == standIn) || last(w) && i < len(ways)-1 || slices.Contains(ways[:i], w) {
						t.Fatal(name)
					}
				}
				if final := o == ongoing || o == failed || o == gotDocument; final && len(ways) > 0 {
					t.Fatal(name)
				}
			}
		}
	}
}
