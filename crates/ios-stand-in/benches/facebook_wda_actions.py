"""Finds fields by their ids and taps them, with facebook-wda. Arguments: address, actions, warm-up, runs. Prints the median in seconds."""

import statistics
import sys
import time

import wda

address, actions, warm_up, runs = sys.argv[1], *map(int, sys.argv[2:])
client = wda.Client(address)
client.session("com.example.Wallet")
times = []
for _ in range(warm_up + runs):
    began = time.perf_counter()
    for index in range(actions):
        client(id=["email", "pin"][index % 2]).tap()
    times.append(time.perf_counter() - began)
print(statistics.median(times[warm_up:]))
client.close()
