package validating

import "time"

// SetRefreshInterval changes how often sources made from now on look for changes, until the returned function is called.
func SetRefreshInterval(interval time.Duration) (restore func()) {
	previous := refreshInterval
	refreshInterval = interval
	return func() { refreshInterval = previous }
}

// Snapshot identifies the snapshot that a plugin judges by.
func Snapshot(plugin any) any { return plugin.(*Plugin).publisher.current.Load() }

// Compiled gives what was compiled of the policies in force, by name.
func Compiled(plugin any) map[string]any {
	compiled := map[string]any{}
	for _, hook := range plugin.(*Plugin).publisher.current.Load().hooks {
		compiled[hook.Policy.Name] = hook.Evaluator.policy
	}
	return compiled
}

// Plans gives the core's plans by resource; nil where nothing can match.
func Plans(plugin any) map[string]any {
	plans := map[string]any{}
	for _, entry := range plugin.(*Plugin).publisher.current.Load().plans.Entries() {
		plans[entry.Key.Resource.Resource] = entry.Plan.Plan.Plan
	}
	return plans
}
