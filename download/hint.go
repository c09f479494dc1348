package download

// A Hint is the next step after an [Error], in a few words. A program replaces a constant with how its own
// users take that step. Other hints are shown unchanged.
type Hint string

// A program puts these steps into its own words.
const (
	HintSigners       Hint = "name the keys or certificates that may sign"
	HintSignature     Hint = "name a signature"
	HintDigest        Hint = "give a digest from elsewhere"
	HintDigestOrList  Hint = "give a digest or a list of digests, or demand less"
	HintGiveDigest    Hint = "give a digest, or demand none"
	HintAllowOlder    Hint = "a digest of it may be given, or the older one allowed"
	HintTorrentDigest Hint = "a digest of the whole file is what a torrent lacks"
	HintListed        Hint = "a digest counts whatever name it stands beside, if it is given by itself"
	HintLessProof     Hint = "less proof than before may be allowed; then the pin is forgotten"
	HintEvidence      Hint = "a digest, a list of digests or a signature by a trusted key says what it should be"
	HintAnyEvidence   Hint = "give a URL or a Metalink document of the file, a digest, a list of digests " +
		"or a signature by a trusted key"
	HintUnsealed Hint = "nothing shows that the journal beside the part file is of a download of yours: " +
		"a digest says what the file is"
	HintUnproven Hint = "the server sends neither a digest nor a strong ETag with the file, so nothing shows that the rest " +
		"would be of the same file: the download may go on if size, date and samples are the same"
	HintForget Hint = "the server stated this digest in an earlier run and not in this one: a digest from elsewhere says " +
		"what the file is, and removing the unfinished download forgets it"
	HintRefresh     Hint = "the download may go on if size and samples are the same"
	HintAnew        Hint = "a new download sets it aside, and begins anew"
	HintName        Hint = "give it a name"
	HintNameIt      Hint = "name the file"
	HintShorterName Hint = "give it a shorter name"
	HintSelect      Hint = "choose one"
	HintExists      Hint = "allow that it is replaced once the new file is verified, or give the new file another name"
	HintFolder      Hint = "the folder of the part file has another path now: the download goes on there"
	HintLimit       Hint = "another limit may be set"
	HintPipe        Hint = "mirrors that nothing ties to the server's file were left out; into a file they are used, " +
		"as wrong bytes can be fetched again there"
	HintNoLookup   Hint = "without looking for a digest the file is taken as it is, unverified"
	HintMirror     Hint = "name another place"
	HintPlain      Hint = "it may be saved as it is"
	HintFTP        Hint = "FTP may be allowed"
	HintFrom       Hint = "give a URL or a Metalink document of the file"
	HintFetch      Hint = "a download fetches it"
	HintRepair     Hint = "a repair from a URL or a Metalink document of the file mends it"
	HintRepairPart Hint = "a repair fetches what is damaged"
	HintRepairAll  Hint = "a repair fetches it anew"
)
