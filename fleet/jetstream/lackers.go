package jetstream

import (
	"context"
	"slices"

	"braid/fleet"
)

// goneLackers returns the workers that lacked something for the job of c and that no longer answer. They are removed
// from the record, because a worker has a new name after each start and may be one of them.
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
