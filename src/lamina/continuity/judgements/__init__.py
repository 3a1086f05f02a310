"""What is said of a capsule as it stands: functions of the capsule and the time, of which nothing is stored.

Begin with ``freshness`` and ``trust``: ``salience`` ranks by what they say, ``planning`` asks them which capsules to
look at again, ``trimming`` and ``startup`` show the result inside a budget and after a reset.
"""
