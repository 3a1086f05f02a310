"""How memory is kept: the ports that slices see, and the engines behind them."""
