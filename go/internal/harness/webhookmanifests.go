package harness

import (
	"slices"
	"sync"

	v1 "k8s.io/api/admissionregistration/v1"
	webhooksource "k8s.io/apiserver/pkg/admission/plugin/webhook/manifest/source"
)

// WebhookManifests are the configurations of manifests that the two plugins of a pair load, each by itself.
type WebhookManifests struct {
	loaders [2]loader[staticWebhooks]
	// set are all configurations that there were, the last ones first: earlier ones are in force when those after them are refused.
	set []*v1.ValidatingWebhookConfiguration
	// dir is watched for changes.
	dir string
}

// staticWebhooks are what a loader finds. Broken ones are not taken: those before them stay in force.
type staticWebhooks struct {
	configurations []*v1.ValidatingWebhookConfiguration
	broken         bool
}

// NewWebhookManifests makes manifests of configurations, which have all defaults.
func NewWebhookManifests(configurations []*v1.ValidatingWebhookConfiguration) *WebhookManifests {
	m := &WebhookManifests{set: configurations}
	for i := range m.loaders {
		m.loaders[i].current.configurations = configurations
	}
	return m
}

// Set changes the manifests, and waits until both plugins have seen that.
func (m *WebhookManifests) Set(configurations []*v1.ValidatingWebhookConfiguration, broken bool) error {
	m.set = slices.Concat(configurations, m.set)
	for i := range m.loaders {
		if err := m.loaders[i].set(staticWebhooks{configurations, broken}); err != nil {
			return err
		}
	}
	return nil
}

// load gives one of the plugins its loader.
func (m *WebhookManifests) load(plugin int) func(string) ([]*v1.ValidatingWebhookConfiguration, string, error) {
	l := &m.loaders[plugin]
	l.attached = true
	return func(string) ([]*v1.ValidatingWebhookConfiguration, string, error) {
		found, version := l.next()
		if found.broken {
			return nil, "", errBroken
		}
		var copied []*v1.ValidatingWebhookConfiguration
		for _, configuration := range found.configurations {
			copied = append(copied, configuration.DeepCopy())
		}
		return copied, version, nil
	}
}

var quickWebhookReloads = sync.OnceFunc(func() { webhooksource.SetReloadIntervalForTests(reloadInterval) })
