"""How fast models really were on this machine, from the receipts of the answers in the store."""
