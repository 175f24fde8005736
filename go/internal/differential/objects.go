package differential

// objectTexts are what objects, params and their changed forms are made from.
var objectTexts = []string{
	`{"apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "web-1", "namespace": "default", "generation": 3, "creationTimestamp": "2024-02-29T12:34:56Z",
    "labels": {"app": "web", "tier": "front", "env": "prod"}, "annotations": {"a/b": "c", "n": "12"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u1", "controller": true}]},
  "spec": {
    "serviceAccountName": "sa", "hostNetwork": false, "priority": 7, "terminationGracePeriodSeconds": 30, "nodeSelector": {"disk": "ssd"},
    "securityContext": {"runAsNonRoot": true, "supplementalGroups": [1, 2, 3]},
    "containers": [
      {"name": "a", "image": "registry.example.com/team/app:v1.2.3", "args": ["--x", "--y=1"],
       "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443}], "env": [{"name": "A", "value": "1"}, {"name": "B"}],
       "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "0.25"}},
       "securityContext": {"privileged": false, "runAsUser": 1000, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
       "livenessProbe": {"httpGet": {"path": "/", "port": 8080}}},
      {"name": "b", "image": "nginx", "livenessProbe": {"httpGet": {"path": "/x", "port": "http"}}, "securityContext": {"privileged": true}},
      {"name": "c", "image": "docker.io/busybox:latest"}],
    "volumes": [{"name": "v", "hostPath": {"path": "/var"}}, {"name": "e", "emptyDir": {}}]},
  "status": {"phase": "Running", "startTime": "2024-03-01T00:00:00Z"}}`,
	`{"apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "web", "namespace": "ns", "labels": {"app": "web"}, "finalizers": ["a/b"]},
  "spec": {"replicas": 3, "paused": false, "selector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}]},
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
    "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a", "image": "nginx:1.25", "resources": {"limits": {"memory": "1Gi"}}}]}}},
  "status": {"replicas": 3, "conditions": [{"type": "Available", "status": "True", "lastUpdateTime": "2024-01-01T10:00:00Z"}]}}`,
	`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "labels": {}},
  "data": {"max": "3", "pattern": "^[a-z]+$", "duration": "1h30m", "time": "2024-05-06T07:08:09Z", "ip": "10.0.0.7", "cidr": "10.0.0.0/8", "url": "https://example.com:8443/a?b=c",
    "version": "1.2.3", "quantity": "1.5Gi", "names": "a,b,c"}, "binaryData": {"k": "aGVsbG8="}, "immutable": true}`,
	`{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "labels": {"app": "web", "ünïcode": "ß"}},
  "spec": {"size": 3, "ratio": 1.5, "one": 1.0, "big": 9007199254740993, "enabled": true, "nothing": null, "empty": {}, "none": [], "text": "Häagen-Dazs 冰 \ud83d\ude00",
    "matrix": [[1, 2], [3], []], "mixed": [1, "a", 1.5, true, null, {"k": [1]}], "items": [{"name": "x", "count": 1, "tags": ["p", "q"]}, {"name": "y", "count": 2}, {"name": "x", "count": 3}],
    "byName": {"x": {"count": 1}, "y": {"count": 2}}, "port": "http", "replicas": 2, "ips": ["10.1.2.3", "fe80::1", "nope"], "sizes": ["1Mi", "500m", "1k"]}}`,
	`{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "clusterIP": "10.96.0.1", "externalIPs": ["192.0.2.1", "203.0.113.9"],
    "ports": [{"port": 80, "targetPort": "http", "protocol": "TCP"}, {"port": 443, "targetPort": 8443, "nodePort": 30443}], "loadBalancerSourceRanges": ["10.0.0.0/8", "2001:db8::/32"],
    "selector": {"app": "web"}, "allocateLoadBalancerNodePorts": false}}`,
}

const namespaceText = `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "uid": "u-1", "resourceVersion": "42", "generation": 1, "creationTimestamp": "2024-01-02T03:04:05Z",
  "labels": {"env": "prod", "kubernetes.io/metadata.name": "ns"}, "annotations": {"owner": "team-a"}, "finalizers": ["x/y"]},
  "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active", "conditions": [{"type": "T", "status": "False", "lastTransitionTime": "2024-01-02T03:04:05Z", "message": "m", "reason": "r"}]}}`
