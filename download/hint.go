package download

import "errors"

// A Hint is the next step after an [Error], in a few words. For each of the constants below, a program can show instead
// how its own users take that step. Other hints are shown unchanged.
type Hint string

// Hints for which a program can have its own words.
const (
	HintSigners       Hint = "name the keys or certificates that may sign"
	HintSignature     Hint = "name a signature"
	HintDigest        Hint = "give a digest of the file"
	HintDigestOrList  Hint = "give a digest or a list of digests, or accept an unverified file"
	HintGiveDigest    Hint = "give a digest, or do not require one"
	HintAllowOlder    Hint = "give the digest of the wanted file, or accept the server's older file"
	HintTorrentDigest Hint = "give a digest of the whole file, which a torrent lacks"
	HintListed        Hint = "give the digest itself, which applies whatever the file's name is"
	HintLessProof     Hint = "accept the file without that proof, now and later"
	HintEvidence      Hint = "give a digest, a list of digests or a trusted key"
	HintAnyEvidence   Hint = "give a URL or a Metalink document of the file, a digest, a list of digests " +
		"or a signature by a trusted key"
	HintUnsealed Hint = "nothing shows that the journal beside the part file belongs to one of your downloads: " +
		"give a digest of the file"
	HintUnproven Hint = "the server sends neither a digest nor a strong ETag with the file, so the rest may be of " +
		"another file: allow resuming if size, date and samples match"
	HintForget Hint = "the server sent this digest in an earlier run, but not in this one: give a digest of the " +
		"file, or remove the unfinished download to forget the server's digest"
	HintRefresh     Hint = "allow resuming if size and samples match"
	HintAnew        Hint = "start a new download, which sets the received part aside"
	HintName        Hint = "give the file a name"
	HintNameIt      Hint = "name the file"
	HintShorterName Hint = "give the file a shorter name"
	HintSelect      Hint = "choose one of the files"
	HintExists      Hint = "allow replacing it once the new file is verified, or give the new file another name"
	HintFolder      Hint = "the folder of the part file has a new path: resume the download there"
	HintLimit       Hint = "set another limit"
	HintPipe        Hint = "mirrors that may have a different file were not used; a download to a file uses them, " +
		"because wrong bytes in a file can be replaced"
	HintNoLookup   Hint = "accept the file unverified, and do not look for a digest"
	HintMirror     Hint = "name a mirror of the file"
	HintPlain      Hint = "save the document itself"
	HintFTP        Hint = "allow FTP"
	HintFrom       Hint = "give a URL or a Metalink document of the file"
	HintFetch      Hint = "download the file"
	HintRepair     Hint = "repair the file from a URL or a Metalink document"
	HintRepairPart Hint = "repair the file by downloading only the damaged parts"
	HintRepairAll  Hint = "repair the file by downloading all of it again"
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
