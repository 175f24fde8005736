package validating

import "time"

// SetRefreshInterval changes how often sources made from now on look for changes, until the returned function is called.
func SetRefreshInterval(interval time.Duration) (restore func()) {
	previous := refreshInterval
	refreshInterval = interval
	return func() { refreshInterval = previous }
}
