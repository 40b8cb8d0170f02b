"""The backend openai against a bare client: 1,216 requests to a loopback server that answers after a fixed time.

    python bench/openai_requests.py [--latency 0.5] [--requests 1216] [--concurrency 64]

Both are whole processes, one after the other in one run. Ideal: requests / concurrency x latency.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _common import number, options_of, told

BARE = """
import asyncio, sys
from openai import AsyncOpenAI
async def main(url, count, width):
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    places = asyncio.Semaphore(width)
    async def one(number):
        async with places:
            await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"Request {number}"}], max_tokens=10, temperature=0)
    await asyncio.gather(*(one(number) for number in range(count)))
asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""
ANSWER = {
    "id": "1", "object": "chat.completion", "created": 0, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
}  # fmt: skip


def serve(latency: float, port: multiprocessing.Queue[int]) -> None:
    """Answer every request with the letter A after ``latency`` seconds."""
    body = json.dumps(ANSWER).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                header = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next((int(row[15:]) for row in header.split("\r\n") if row.startswith("content-length:")), 0)
                await reader.readexactly(length)
                if header.startswith("post"):
                    await asyncio.sleep(latency)
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=1024)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def timed(command: list[str]) -> float:
    """Wall seconds of a process.

    Raises:
        SystemExit: it failed; with what it said.
    """
    begun = time.perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own commands
    if ended.returncode:
        sys.exit(ended.stderr[-2000:])
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    parser = options_of(__doc__)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds that the server takes for each")
    parser.add_argument("--requests", type=number, default=1216, help="to the bare client; ours: as many or a few more")
    parser.add_argument("--concurrency", type=number, default=64, help="requests in flight")
    parser.add_argument("--jubaku", metavar="DIR", help="ask the 1,216 rows of jubaku:v1 in DIR instead of debates")
    given = parser.parse_args()
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(given.latency, port), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.get(timeout=30)}/v1"
    bare = timed([sys.executable, "-c", BARE, url, str(given.requests), str(given.concurrency)])
    with tempfile.TemporaryDirectory() as runs:
        what = ["--benchmark", "debatebias", "--repeats", str(-(-given.requests // 280))]
        if given.jubaku:
            what = ["--benchmark", "jubaku", "--data", given.jubaku, "--mode", "generate"]
        ours = timed([
            str(Path(sys.executable).with_name("biasfw")), "run", *what, "--backend", "openai", "--model", "m",
            "-B", f"base_url={url}", "-B", f"concurrency={given.concurrency}", "--metric", "outcome_rate",
            "--runs", runs, "--quiet",
        ])  # fmt: skip
    asked = 1216 if given.jubaku else -(-given.requests // 280) * 280
    server.terminate()
    ideal = given.requests / given.concurrency * given.latency
    print(f"bare client: {given.requests} requests in {bare:.1f} s (ideal {ideal:.1f} s)")
    print(f"biasfw run:  {asked} requests in {ours:.1f} s (ideal {asked / given.concurrency * given.latency:.1f} s)")
    print(f"seconds per request, ours / bare: {(ours / asked) / (bare / given.requests):.2f}")


if __name__ == "__main__":
    told(main)
