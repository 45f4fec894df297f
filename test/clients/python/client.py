"""Does what a test tells it on standard input, a line of JSON each, and tells what comes."""

import asyncio
import json
import os
import sys

from gql import Client, gql
from gql.transport.websockets import WebsocketsTransport

SUBPROTOCOLS = {
    "graphql-transport-ws": [WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
    "graphql-ws (legacy)": [WebsocketsTransport.APOLLO_SUBPROTOCOL],
}


def tell(**what):
    print(json.dumps(what), flush=True)


async def subscribe(session, id, query, variables):
    request = gql(query)
    request.variable_values = variables
    try:
        async for data in session.subscribe(request):
            tell(id=id, data=data)
        tell(id=id, isComplete=True)
    except Exception as error:
        tell(id=id, error=f"{type(error).__name__}: {error}")


async def main():
    transport = WebsocketsTransport(
        url=f"ws://{os.environ['GATEWAY']}/graphql",
        init_payload={"token": os.environ["TOKEN"]},
        subprotocols=SUBPROTOCOLS[os.environ["TRANSPORT"]],
    )
    loop = asyncio.get_running_loop()
    tasks = {}
    session = await Client(transport=transport).connect_async()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        if command.get("stop"):
            tasks[command["id"]].cancel()
        else:
            tasks[command["id"]] = asyncio.create_task(subscribe(session, **command))


asyncio.run(main())
