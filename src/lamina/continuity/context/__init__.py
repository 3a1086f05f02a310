"""Context: what an agent is given for a task, put together from capsules, files, the graph and reminders."""
