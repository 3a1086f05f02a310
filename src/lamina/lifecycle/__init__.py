"""What happens to events and jobs, for those who wait and those who watch."""
