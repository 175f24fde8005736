package harness

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	webhooksource "k8s.io/apiserver/pkg/admission/plugin/webhook/manifest/source"
)

// WebhookManifests are the configurations of manifests that the two plugins of a pair load, each by itself.
type WebhookManifests struct {
	lock    sync.Mutex
	current []*v1.ValidatingWebhookConfiguration
	broken  bool
	// earlier are those before: these may be in force when the current ones are refused.
	earlier []*v1.ValidatingWebhookConfiguration
	version int
	// loads are how often each plugin has loaded them.
	loads [2]int
	// dir is watched for changes.
	dir string
}

// NewWebhookManifests makes manifests of configurations, which have all defaults.
func NewWebhookManifests(configurations []*v1.ValidatingWebhookConfiguration) *WebhookManifests {
	return &WebhookManifests{current: configurations}
}

// Set changes the manifests, and waits until both plugins have seen that; see manifests.set. Broken ones are not taken: those before them stay in
// force.
func (m *WebhookManifests) Set(configurations []*v1.ValidatingWebhookConfiguration, broken bool) error {
	m.lock.Lock()
	m.earlier = append(m.earlier, m.current...)
	m.current, m.broken = configurations, broken
	m.version++
	before := m.loads
	m.lock.Unlock()
	for deadline := time.Now().Add(settleTime); !m.loadedSince(before); time.Sleep(reloadInterval / 4) {
		if time.Now().After(deadline) {
			return errors.New("static webhooks are not loaded")
		}
	}
	return nil
}

func (m *WebhookManifests) loadedSince(before [2]int) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.loads[0] >= before[0]+2 && m.loads[1] >= before[1]+2
}

// all are the configurations that may be in force.
func (m *WebhookManifests) all() []*v1.ValidatingWebhookConfiguration {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.Concat(m.current, m.earlier)
}

// loader gives the manifests to one of the plugins.
func (m *WebhookManifests) loader(plugin int) func(string) ([]*v1.ValidatingWebhookConfiguration, string, error) {
	return func(string) ([]*v1.ValidatingWebhookConfiguration, string, error) {
		m.lock.Lock()
		defer m.lock.Unlock()
		m.loads[plugin]++
		if m.broken {
			return nil, "", errBroken
		}
		var copied []*v1.ValidatingWebhookConfiguration
		for _, configuration := range m.current {
			copied = append(copied, configuration.DeepCopy())
		}
		return copied, fmt.Sprint(m.version), nil
	}
}

var quickWebhookReloads = sync.OnceFunc(func() { webhooksource.SetReloadIntervalForTests(reloadInterval) })
