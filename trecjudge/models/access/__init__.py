"""How an endpoint is reached: address, keys, headers, proxy, certificates."""
