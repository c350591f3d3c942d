"""The devices of a node: what is advertised, in which health, and MIG instances that are made on demand."""
