package cli

import (
	"path/filepath"

	"braid/download"
)

// flagHints are how users of the command take the steps that the library names.
var flagHints = map[download.Hint]string{
	download.HintSigners:       "--keyring FILE or --smime-ca FILE says who is",
	download.HintSignature:     "--signature FILE|URL names one",
	download.HintDigest:        "--sha256 HEX is evidence, too",
	download.HintDigestOrList:  "--sha256 HEX or --checksums LIST are evidence, too; --require none takes less",
	download.HintGiveDigest:    "give --sha256, or leave out --require digest",
	download.HintTorrentDigest: "--sha256 HEX is what a torrent lacks",
	download.HintListed:        "--checksum ALGORITHM=HEX takes a digest whatever name it stands beside",
	download.HintLessProof:     "--allow-less-proof goes on without, and forgets the promise",
	download.HintEvidence:      "--sha256 HEX, --checksums LIST or --keyring FILE say what it should be",
	download.HintAnyEvidence:   "--from URL|FILE.meta4, --sha256 HEX, --checksums LIST or --keyring FILE say it",
	download.HintUnsealed:      "nothing shows that the journal beside the part file is of a download of yours: --sha256 HEX says what the file is",
	download.HintUnproven:      "the server gives neither a digest nor a strong ETag, so nothing shows that the rest would be of the same file: --continue goes on if size, date and samples are the same",
	download.HintName:          "give -o NAME",
	download.HintNameIt:        "-o NAME names the file",
	download.HintShorterName:   "-o NAME takes a shorter one",
	download.HintSelect:        "--select NAME chooses one",
	download.HintExists:        "--overwrite replaces it once the new one is verified; -o NAME takes another name",
	download.HintLimit:         "--max-size sets another limit",
	download.HintPipe:          "mirrors that nothing ties to the server's file were left out; into a file (-o NAME) they are used, as wrong bytes can be fetched again there",
	download.HintMirror:        "--mirror URL names another place",
	download.HintPlain:         "--no-metalink saves it as it is",
	download.HintFTP:           "leave out --no-ftp",
	download.HintFrom:          "--from URL|FILE.meta4 says it",
	download.HintFetch:         "braid get fetches it",
	download.HintRepair:        "--repair --from URL|FILE.meta4 mends it",
	download.HintRepairPart:    "--repair fetches what is damaged",
	download.HintRepairAll:     "--repair fetches it anew",
}

// hintOf is the hint of an error in the words of the command.
func hintOf(e *download.Error) string {
	if e.Hint == download.HintFolder {
		return "-d " + filepath.Dir(e.Part) + " goes on from there"
	}
	if hint, ok := flagHints[e.Hint]; ok {
		return hint
	}
	return string(e.Hint)
}
