"""What a write makes of a capsule: functions of what stands and what was asked. Nothing is read or stored here.

Begin with ``deciding``, which has upsert, patch and lifecycle; ``revalidating`` has the fourth way. They put together
the steps of the other modules: merge what was left out, tidy, set the times of entries, move along the lifecycle.
"""
