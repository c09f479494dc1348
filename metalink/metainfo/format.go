package metainfo

import (
	"crypto/sha1"

	"braid/metalink"
	"braid/verify"
)

// New returns a torrent of one file with SHA-1 pieces. It returns an error for an empty file and for a name that Parse
// would refuse.
func New(name string, pieces verify.Pieces) (Torrent, error) {
	if pieces.IsZero() || pieces.Algorithm() != verify.SHA1 {
		return Torrent{}, fault("the file has no %v digests of pieces", verify.SHA1)
	}
	if err := metalink.CheckPath(name); err != nil {
		return Torrent{}, fault("%v", err)
	}
	info := appendPair([]byte("d"), "length", pieces.Size())
	info = appendText(appendText(info, "name"), name)
	info = appendPair(info, "piece length", pieces.Length())
	var sums []byte
	for i := range pieces.Count() {
		sums = append(sums, pieces.Digest(i).Bytes()...)
	}
	info = appendText(appendText(info, "pieces"), string(sums))
	info = append(info, 'e')
	t := Torrent{InfoHash: sha1.Sum(info), info: string(info)}
	v, err := read(t.info)
	if err != nil {
		return t, err
	}
	return t, t.describe(v.dict)
}

// Format returns t as a .torrent file with webSeeds in place of the web seeds of t. generator is the name of the
// program that creates the file.
func (t Torrent) Format(generator string, webSeeds []string) ([]byte, error) {
	b := []byte("d")
	if len(t.Trackers) > 0 {
		b = appendText(appendText(b, "announce"), t.Trackers[0][0])
		b = append(appendText(b, "announce-list"), 'l')
		for _, tier := range t.Trackers {
			b = appendTexts(b, tier)
		}
		b = append(b, 'e')
	}
	if generator != "" {
		b = appendText(appendText(b, "created by"), generator)
	}
	b = append(appendText(b, "info"), t.info...)
	if len(webSeeds) > 0 {
		b = appendTexts(appendText(b, "url-list"), webSeeds)
	}
	if b = append(b, 'e'); len(b) > MaxSize {
		return nil, fault("it would be larger than %d MiB", MaxSize>>20)
	}
	return b, nil
}

func appendTexts(b []byte, list []string) []byte {
	b = append(b, 'l')
	for _, s := range list {
		b = appendText(b, s)
	}
	return append(b, 'e')
}
