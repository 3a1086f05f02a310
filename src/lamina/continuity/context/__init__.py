"""Context: what an agent is given for a task, put together from capsules, files, the graph and reminders.

Begin with ``retrieving``; ``orienting`` is its larger half, the capsules. ``snapshots`` keep what is known for a task as a file.
"""
