"""Text around the tokens: the chat template in front of them, the stream of characters behind them."""
