"""Documents that one server takes over from another (contract 1.14): off unless an operator switches it on.

What arrives lands as any other write does, by the version of each document and never by the time of a file.
"""
