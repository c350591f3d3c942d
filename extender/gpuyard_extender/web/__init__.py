"""What the extender answers over HTTP, and to whom: the verbs, questions of people, metrics and the page.

Stands for the mux of a Kubernetes component.
"""
