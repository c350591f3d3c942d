"""Controllers of the embedded cluster: they make true what the API server only notes down.

Stand for the parts of kube-controller-manager that a GPU cluster cannot do without:
- `service`: one queue and one store of objects (`objects`) for the controllers that decide by `decisions`:
  `deployments` (with `families`, `revisions`, `rollouts`, `deployment_status`), `replica_sets`, `stateful_sets`,
  `daemon_sets`, `jobs` (with `job_counts`, `job_pods`, `job_ends`), `disruption`, `node_lifecycle` (with
  `taint_eviction`). `pods` is what they know of pods.
- `garbage_collector` (with `graph` and `garbage`): the garbage collector, which follows owner references.
- `namespaces` (with `content`): the namespace controller; a namespace goes after everything in it.
- `discovered`: their RESTMapper.
Law: the deciding modules are pure; a service may lose its memory between any two writes, and any write may fail.
"""
