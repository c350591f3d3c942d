"""Puts the parts together: the only place that knows both the embedded cluster and GPUYard's components.

`steps` joins them by direct calls on a clock that is stepped by hand; `embedded` by their real protocols.
"""
