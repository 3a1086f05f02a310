"""What the server reads from other machines."""
