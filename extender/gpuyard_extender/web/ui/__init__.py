"""The live yard: a web page that shows who has which GPU, why pods wait, and how each decision was made.

Stands for a cluster's dashboard. Law: looking changes nothing, and costs the verbs nothing that grows with the number
of those who look. `painting` makes pieces of the ledger, `pieces` keeps them, `broadcast` tells listeners of them,
`routes` and `sessions` speak HTTP, `static` is the page itself.
"""
