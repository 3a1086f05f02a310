"""Memory files: free documents in the folders of the repository, written, read, appended to and found again.

Begin with ``operations``; ``names`` says which paths a file may have.
"""
