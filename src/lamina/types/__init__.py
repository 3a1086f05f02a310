"""What is asked of a server and what it answers: the types that it and its clients both have.

They stand in the distribution `lamina-client`, with the client, the kernel, the errors and the bounds, and import nothing beside these.
"""
