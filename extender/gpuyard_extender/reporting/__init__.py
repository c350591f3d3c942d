"""What is told of decisions, to whom: log, events, decision log, the page's history and counters.

Law: no verb waits for any of it.
"""
