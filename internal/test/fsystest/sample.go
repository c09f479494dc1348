package fsystest

import (
	"math/rand/v2"
	"os"
	"slices"
)

// allEnv is the variable that makes tests try all cases instead of a sample.
const allEnv = "BRAID_CRASH_ALL"

// Everything reports whether tests should try all cases, as scripts/nightly does.
func Everything() bool { return os.Getenv(allEnv) != "" }

// Sample returns at most most of the numbers from 0 to n, in ascending order: the first, the last and random ones. If
// Everything is set or there are not more, it returns all.
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
