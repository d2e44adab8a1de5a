"""Finds fields by their ids and taps them, with facebook-wda. Arguments: the address, how many actions, how often. Prints the times, in seconds."""

import sys
import time

import wda

address, actions, times = sys.argv[1], *map(int, sys.argv[2:])
client = wda.Client(address)
client.session("com.example.Wallet")
for _ in range(times):
    began = time.perf_counter()
    for index in range(actions):
        client(id=["email", "pin"][index % 2]).tap()
    print(time.perf_counter() - began)
client.close()
