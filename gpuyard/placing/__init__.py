"""Which devices of which node a pod gets, or the reason why none.

Stands for the Filter, Score and Reserve plugins of a scheduler framework. `cluster` is the snapshot that all is
decided on, `placement` the decision on one node; the columns of `fleet` and the memory of `views` make it quick on
thousands.
"""
