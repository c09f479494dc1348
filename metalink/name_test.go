package metalink

import (
	"errors"
	"testing"
)

// TestCheckName_Rule10_OwnFiles checks that CheckName refuses the names of part files and journals, which a later run
// would take for its own (rule 10).
func TestCheckName_Rule10_OwnFiles(t *testing.T) {
	for _, name := range []string{
		"x.iso.part", "x.iso.part.journal", "x.iso.part.bad", "x.iso.part.journal.bad", "x.part",
		"x.iso.PART", "X.ISO.Part.Journal", "x.iso.pArT.bAd",
		"x.iso.par\u200dt", "x.iso.\u00adpart", "x.iso.part\ufe0f", "x.iso.part\u200b.journal", "x.iso.pa\u034frt",
		"x.iso.part\u3164",
		"x.iso.\uff50\uff41\uff52\uff54", "x.iso\uff0epart", "x.iso\u2024part.journal", "x.iso.part.\U0001d423ournal",
	} {
		var e *NameError
		if err := CheckName(name); !errors.As(err, &e) || !e.Own {
			t.Errorf("%+q: %v", name, err)
		}
	}
	for _, name := range []string{
		"x.part1.rar", "part", "x.parts", "spare-part", "journal", "x.journal", "x.bad", "Cargo.lock", "x.part.iso",
		"x.p\u00e4rt", "x.iso.part.journal.asc",
	} {
		if err := CheckName(name); err != nil {
			t.Errorf("%+q: %v", name, err)
		}
	}
}
