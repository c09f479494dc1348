package serve

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

// readTorrent reads names and sizes of files in a .torrent (BEP 3). There is none in one that has only the
// tree of BEP 52.
func readTorrent(r io.Reader) ([]described, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	v, rest, err := consumeBencode(string(data), 0)
	if err != nil {
		return nil, err
	}
	torrent, _ := v.(map[string]any)
	info, ok := torrent["info"].(map[string]any)
	if !ok || rest != "" {
		return nil, errTorrent
	}
	if size, ok := info["length"].(int64); ok {
		name, _ := info["name"].(string)
		return []described{{name: name, size: size}}, nil
	}
	list, _ := info["files"].([]any)
	var files []described
	for _, f := range list {
		file, _ := f.(map[string]any)
		size, ok := file["length"].(int64)
		segments, _ := file["path"].([]any)
		if !ok || len(segments) == 0 {
			return nil, errTorrent
		}
		files = append(files, described{name: joinSegments(segments), size: size})
	}
	return files, nil
}

// joinSegments is the path of a file in a torrent of several, below the torrent's own folder.
func joinSegments(segments []any) string {
	var names []string
	for _, s := range segments {
		name, _ := s.(string)
		names = append(names, name)
	}
	return strings.Join(names, "/")
}

var errTorrent = errors.New("not a torrent")

// maxBencode limits how deep lists and dictionaries are nested.
const maxBencode = 32

// consumeBencode splits s after its leading value (BEP 3, "bencoding"): an int64, a string, a []any or a
// map[string]any.
func consumeBencode(s string, depth int) (v any, rest string, err error) {
	if s == "" || depth > maxBencode {
		return nil, s, errTorrent
	}
	switch s[0] {
	case 'i':
		digits, rest, ok := strings.Cut(s[1:], "e")
		n, err := strconv.ParseInt(digits, 10, 64)
		if !ok || err != nil {
			return nil, s, errTorrent
		}
		return n, rest, nil
	case 'l':
		return consumeList(s[1:], depth)
	case 'd':
		return consumeDictionary(s[1:], depth)
	}
	return consumeString(s)
}

// consumeString splits s after its leading length, colon and bytes.
func consumeString(s string) (v any, rest string, err error) {
	digits, rest, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !ok || err != nil || n > uint64(len(rest)) {
		return nil, s, errTorrent
	}
	return rest[:n], rest[n:], nil
}

// consumeList splits s, after the l, after the values up to e.
func consumeList(s string, depth int) (list []any, rest string, err error) {
	for !strings.HasPrefix(s, "e") {
		var v any
		if v, s, err = consumeBencode(s, depth+1); err != nil {
			return nil, s, err
		}
		list = append(list, v)
	}
	return list, s[1:], nil
}

// consumeDictionary splits s, after the d, after the pairs up to e. The order of keys does not matter here.
func consumeDictionary(s string, depth int) (dict map[string]any, rest string, err error) {
	list, rest, err := consumeList(s, depth)
	if err != nil || len(list)%2 != 0 {
		return nil, s, errTorrent
	}
	dict = make(map[string]any, len(list)/2)
	for i := 0; i < len(list); i += 2 {
		key, ok := list[i].(string)
		if !ok {
			return nil, s, errTorrent
		}
		dict[key] = list[i+1]
	}
	return dict, rest, nil
}
