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
