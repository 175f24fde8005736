// Command kube-apiserver is upstream's kube-apiserver with celgate's ValidatingAdmissionPolicy
// plugin compiled in, and on request with an etcd in the same process.
//
// All of upstream's flags are there. --admission-engine chooses the plugin, --embedded-etcd starts
// a complete server from nothing but a directory.
package main

import (
	"os"
	_ "time/tzdata" // time zones for CronJob schedules, as in upstream's binary

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info
)

func main() {
	os.Exit(cli.Run(newCommand()))
}
