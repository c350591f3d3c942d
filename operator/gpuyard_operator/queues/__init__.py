"""Whose turn it is: queues with quotas, and the order of gangs in them."""
