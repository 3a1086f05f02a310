"""What peers send each other (Relay contract 1.11): messages, what becomes of them, and who proves to have sent them.

A message is its sender's word: a document and an event of its own, from which nothing is taken for true by itself.
"""
