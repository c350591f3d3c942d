"""Controllers of the embedded cluster: they make true what the API server only notes down.

Stand for the parts of kube-controller-manager that a GPU cluster cannot do without:
- `garbage_collector` (with `graph` and `garbage`): the garbage collector, which follows owner references.
- `namespaces` (with `content`): the namespace controller; a namespace goes after everything in it.
- `discovered`: their RESTMapper.
Law: the deciding modules are pure; a service may lose its memory between any two writes, and any write may fail.
Not here: the controllers of Deployments, Jobs and the like, and of nodes.
"""
