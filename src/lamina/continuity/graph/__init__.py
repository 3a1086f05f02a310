"""The graph around a thread or a task: which tasks, documents and successors it is linked to.

Begin with ``blocks``, which is a function of links; ``sources`` reads these from documents and follows their changes,
``graphing`` makes the blocks of an answer from both.
"""
