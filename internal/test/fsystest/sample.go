package fsystest

import (
	"math/rand/v2"
	"os"
	"slices"
)

// allEnv makes tests try everything, where they otherwise try a sample.
const allEnv = "BRAID_CRASH_ALL"

// Everything reports whether tests are to try everything, as scripts/nightly wants it.
func Everything() bool { return os.Getenv(allEnv) != "" }

// Sample returns most of the numbers from 0 to n, in order: the first, the last and others by chance. If that is all of them, or
// everything is to be tried, it returns all.
func Sample(n, most int, seed uint64) []int {
	list := make([]int, 0, n+1)
	for i := range n + 1 {
		list = append(list, i)
	}
	if len(list) <= most || Everything() {
		return list
	}
	r := rand.New(rand.NewPCG(seed, 2))
	middle := list[1:n]
	r.Shuffle(len(middle), func(i, j int) { middle[i], middle[j] = middle[j], middle[i] })
	list = append([]int{0, n}, middle[:most-2]...)
	slices.Sort(list)
	return list
}
