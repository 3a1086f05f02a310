"""What agents arrange with each other and with their later selves. So far: one-shot reminders."""
