"""What operators see and run (Relay contract 1.15, 1.16): figures with alarms, plans of compaction, jobs of this machine."""
