"""What a turn says, as one value: read by rules at once, and by a language model behind them where there is one."""
