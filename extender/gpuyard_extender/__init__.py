"""The scheduler extender: which node and which devices a pod gets, asked by kube-scheduler over HTTP.

Stands for the in-tree plugins that no out-of-tree code can add to a kube-scheduler as it is: Filter, Score, Reserve
and Bind of GPU devices. Law of this package: decisions are pure functions of the ledger (`feasibility`,
`scheduling`, `binding`, `planning`, `explaining`); `service` alone waits, through the ports of `gpuyard_kube`; only
the shell (`app`, `queries`, `server`, `connection`, `ui` and `main`) knows asyncio or a web framework. Nothing
here is remembered that cannot be rebuilt from the API.
"""
