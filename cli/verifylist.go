package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"braid/source"
)

// listed are the files that the list names, as sha256sum -c takes them: below this folder, in the order of the list, each once.
func (v *verifyCommand) listed() (paths []string, err error) {
	missing, seen := 0, map[string]bool{}
	for e, wrong := range v.sums.list.Lines() {
		path := filepath.Clean(filepath.FromSlash(e.Name))
		switch {
		case e.Name == "" && wrong != nil:
			return nil, &failure{code: exitProtocol, what: "verify", where: v.sums.list.Name, why: wrong.Error(), hint: "name the files to check"}
		case e.Name == "" || e.Name == "-":
			continue
		case !filepath.IsLocal(path):
			return nil, &failure{
				code: exitProtocol, what: "verify", where: v.sums.list.Name,
				why:  fmt.Sprintf("line %d names %s, which is not below this folder", e.Line, source.Escape(e.Name)),
				hint: "name the files to check",
			}
		case seen[path]:
			continue
		}
		seen[path] = true
		if _, err := os.Lstat(path); v.ignoreMissing && os.IsNotExist(err) {
			missing++
			continue
		}
		paths = append(paths, path)
	}
	if len(paths) > 0 {
		return paths, nil
	}
	why := "it names no file"
	if missing > 0 {
		why = fmt.Sprintf("none of its %d files is here", missing)
	}
	return nil, &failure{code: exitNoEvidence, what: "verify", where: v.sums.list.Name, why: why, hint: "name the files to check"}
}
