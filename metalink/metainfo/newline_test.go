package metainfo

import (
	"strings"
	"testing"
)

// TestFinalNewline_Rule41 checks that Parse accepts one line ending after a torrent, as editors and web forms add it,
// and refuses anything else (rule 41).
func TestFinalNewline_Rule41(t *testing.T) {
	torrent := "d4:infod6:lengthi3e4:name1:a12:piece lengthi4e6:pieces20:" + strings.Repeat("x", 20) + "ee"
	for end, ok := range map[string]bool{"": true, "\n": true, "\r\n": true, "\n\n": true, " ": false, "\nx": false,
		"e": false, "\x00": false} {
		got, err := Parse(strings.NewReader(torrent + end))
		if (err == nil) != ok || ok && got.InfoHash != parse(t, torrent).InfoHash {
			t.Errorf("with %q behind it: %v, %v", end, got.InfoHash, err)
		}
	}
}
