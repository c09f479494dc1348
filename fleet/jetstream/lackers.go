package jetstream

import (
	"context"
	"slices"

	"braid/fleet"
)

// goneLackers returns the workers that lacked something for the job and no longer answer. A restarted worker has
// another name, and does not count as a second witness.
func goneLackers(ctx context.Context, c *Claim, k fleet.Kind) []string {
	if k != fleet.Lacks || len(c.Record.Lackers) == 0 {
		return nil
	}
	there, err := c.q.Workers(ctx)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Record.Lackers), func(name string) bool {
		return slices.ContainsFunc(there, func(w fleet.Worker) bool { return w.Name == name })
	})
}
