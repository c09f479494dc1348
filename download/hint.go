package download

import "errors"

// A Hint is the next step after an [Error], in a few words. For each of the constants below, a program can show instead
// how its own users take that step. Other hints are shown unchanged.
type Hint string

// Hints for which a program can have its own words.
const (
	HintSigners       Hint = "name the keys or certificates that may sign"
	HintSignature     Hint = "name a signature"
	HintDigest        Hint = "give a digest from elsewhere"
	HintDigestOrList  Hint = "give a digest or a list of digests, or demand less"
	HintGiveDigest    Hint = "give a digest, or demand none"
	HintAllowOlder    Hint = "give its digest, or allow the older one"
	HintTorrentDigest Hint = "give a digest of the whole file, which a torrent lacks"
	HintListed        Hint = "give the digest itself, for a file of any name"
	HintLessProof     Hint = "allow less proof than before; then the pin is forgotten"
	HintEvidence      Hint = "give a digest, a list of digests or a trusted key"
	HintAnyEvidence   Hint = "give a URL or a Metalink document of the file, a digest, a list of digests " +
		"or a signature by a trusted key"
	HintUnsealed Hint = "nothing shows that the journal beside the part file belongs to one of your downloads: " +
		"give a digest of the file"
	HintUnproven Hint = "the server sends neither a digest nor a strong ETag with the file, so the rest may be of " +
		"another file: allow resuming if size, date and samples match"
	HintForget Hint = "the server sent this digest in an earlier run, but not in this one: give a digest from " +
		"elsewhere, or remove the unfinished download to forget it"
	HintRefresh     Hint = "allow resuming if size and samples match"
	HintAnew        Hint = "a new download sets it aside and starts over"
	HintName        Hint = "give it a name"
	HintNameIt      Hint = "name the file"
	HintShorterName Hint = "give it a shorter name"
	HintSelect      Hint = "choose one"
	HintExists      Hint = "allow replacing it once the new file is verified, or give the new file another name"
	HintFolder      Hint = "the folder of the part file has a new path: resume the download there"
	HintLimit       Hint = "set another limit"
	HintPipe        Hint = "mirrors that may have a different file were left out; a download to a file uses them, " +
		"because wrong bytes in a file can be replaced"
	HintNoLookup   Hint = "accept the file unverified, without looking for a digest"
	HintMirror     Hint = "name a mirror"
	HintPlain      Hint = "save it as it is"
	HintFTP        Hint = "allow FTP"
	HintFrom       Hint = "give a URL or a Metalink document of the file"
	HintFetch      Hint = "download it"
	HintRepair     Hint = "repair it from a URL or a Metalink document of the file"
	HintRepairPart Hint = "repair it, which fetches only the damaged parts"
	HintRepairAll  Hint = "repair it, which fetches all of it again"
)

// looseHint returns a hint about the mirrors in all that were not used because the output is a pipe, or "" if there are none.
func looseHint(all []SourceResult) Hint {
	for _, src := range all {
		if errors.Is(src.Err, errLoose) {
			return HintPipe
		}
	}
	return ""
}
