"""The lite server with what a full Milvus has and it has not: tokens, rights, TLS.

    guarded.py DATA PORT TOKENS [CERTIFICATE KEY]

TOKENS is a JSON file, token to "all" or "read". It is read at every call, so that a test can take a token away.
"""

import base64
import json
import sys
from concurrent import futures

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.db import MilvusLite
from pymilvus.grpc_gen import milvus_pb2_grpc

# What Milvus' own group of rights "collection read only" lets one do, and the greeting.
READ = {
    "Connect", "GetVersion", "Query", "Search", "HybridSearch", "DescribeCollection", "HasCollection",
    "ShowCollections", "DescribeAlias", "ListAliases", "GetLoadState", "GetLoadingProgress",
}


class Guard(grpc.ServerInterceptor):
    """Refuses as the proxy of a full Milvus does: by the status of the call, before anything is looked at."""

    def __init__(self, tokens):
        self.tokens = tokens

    def intercept_service(self, continuation, details):
        sent = dict(details.invocation_metadata).get("authorization", "")
        method = details.method.rsplit("/", 1)[-1]
        with open(self.tokens, encoding="utf-8") as file:
            right = json.load(file).get(base64.b64decode(sent).decode())
        if right is None:
            return refusal(grpc.StatusCode.UNAUTHENTICATED, "auth check failure, please check username and password")
        if right == "read" and method not in READ:
            return refusal(grpc.StatusCode.PERMISSION_DENIED, f"{method}: permission deny")
        return continuation(details)


def refusal(code, text):
    return grpc.unary_unary_rpc_method_handler(lambda _request, context: context.abort(code, text))


def main(data, port, tokens, *tls):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=10), interceptors=[Guard(tokens)])
    milvus_pb2_grpc.add_MilvusServiceServicer_to_server(MilvusServicer(MilvusLite(data)), server)
    address = f"127.0.0.1:{port}"
    if tls:
        certificate, key = (open(path, "rb").read() for path in tls)
        server.add_secure_port(address, grpc.ssl_server_credentials([(key, certificate)]))
    else:
        server.add_insecure_port(address)
    server.start()
    print(f"listening on {address}", flush=True)
    server.wait_for_termination()


main(*sys.argv[1:])
