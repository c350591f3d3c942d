"""The objects of the cluster as the values that the operator looks at."""
