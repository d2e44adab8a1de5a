"""A gRPC server that answers HasText with true. Prints its address, and ends with its stdin."""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
from trailblaze.v1 import commands_pb2_grpc, types_pb2


class Commands(commands_pb2_grpc.TrailblazeCommandsServicer):
    def HasText(self, request, context):
        return types_pb2.BoolResult(value=True)


server = grpc.server(ThreadPoolExecutor(max_workers=8))
commands_pb2_grpc.add_TrailblazeCommandsServicer_to_server(Commands(), server)
print(f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}", flush=True)
server.start()
sys.stdin.read()
