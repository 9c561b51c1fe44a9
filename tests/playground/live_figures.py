#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what TCP costs a client in a browser: native clients over UDP and the page's client over a WebSocket
(Node.js with the WebAssembly module) watch one world through one simulated link. The link is between two network
namespaces, carries real UDP and real TCP of the kernel, and delays and drops IP packets. Needs root.

With --pages, pages of Chromium with the npm client (build/npm) watch, too: one over a data channel, one over a WebSocket.

  live_figures.py PROGRAMS HARNESS [--seconds 20] [--only lan intercity ...] [--pages]
"""
import argparse
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

CLONE_NEWNET = 0x40000000
HERE = os.path.dirname(os.path.abspath(__file__))
# Latency and jitter in ms and loss in percent, in each direction. The first three are those of the harness (--network).
NETWORKS = {
    "lan": (2, 0.5, 0.0),
    "broadband": (30, 5, 0.5),
    "intercity": (80, 20, 2.0),
    "loss 0 %": (30, 0, 0.0),
    "loss 1 %": (30, 0, 1.0),
    "loss 3 %": (30, 0, 3.0),
    "loss 10 %": (30, 0, 10.0),
}


def sh(*command):
    subprocess.run(command, check=True)


def open_tun(namespace, name, address, peer):
    """Opens a TUN device in a network namespace, from this process."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/var/run/netns/{namespace}", os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(there, CLONE_NEWNET) != 0:
        sys.exit("setns failed: this needs root")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", name.encode(), 0x0001 | 0x1000))  # TUNSETIFF: TUN, no header
    libc.setns(own, CLONE_NEWNET)
    os.close(own)
    os.close(there)
    ip = ("ip", "netns", "exec", namespace, "ip")
    sh(*ip, "addr", "add", address, "peer", peer, "dev", name)
    sh(*ip, "link", "set", name, "up")
    sh(*ip, "link", "set", "lo", "up")
    return tun


def forward(a, b, latency_ms, jitter_ms, loss_percent, seed):
    """Carries packets between two TUN devices until it is killed. Packets of one direction may overtake each other,
    as with the harness's links, by at most the jitter."""
    dice = random.Random(seed)
    queue = []
    other = {a: b, b: a}
    count = 0
    while True:
        now = time.monotonic()
        while queue and queue[0][0] <= now:
            _, _, to, packet = heapq.heappop(queue)
            os.write(to, packet)
        wait = max(0.0, queue[0][0] - time.monotonic()) if queue else 1.0
        for tun in select.select([a, b], [], [], wait)[0]:
            packet = os.read(tun, 65536)
            if packet[0] >> 4 != 4 or dice.random() * 100 < loss_percent:
                continue
            count += 1
            due = time.monotonic() + (latency_ms + abs(dice.gauss(0, 1)) * jitter_ms) / 1000
            heapq.heappush(queue, (due, count, other[tun], packet))


def p95(harness, truth, shown, latency_ms, scratch):
    path = os.path.join(scratch, "figures.json")
    subprocess.run([harness, "measure", "--truth", truth, "--rendered", shown, "--json", path,
                    "--one-way-ms", str(max(100, 4 * latency_ms))], check=True, stdout=subprocess.DEVNULL)
    with open(path) as file:
        return json.load(file)


def measure(options, name, scratch):
    latency, jitter, loss = NETWORKS[name]
    for namespace in ("rk-a", "rk-b"):
        subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)
        sh("ip", "netns", "add", namespace)
    a = open_tun("rk-a", "rk0", "10.90.0.1", "10.90.0.2")
    b = open_tun("rk-b", "rk1", "10.90.0.2", "10.90.0.1")
    link = os.fork()
    if link == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.nice(-5)
        forward(a, b, latency, jitter, loss, options.seed)
    os.close(a)
    os.close(b)
    truth = os.path.join(scratch, "truth.csv")
    folder = os.path.join(scratch, "page")
    if options.pages:
        sh("node", os.path.join(HERE, "live_page.mjs"), "--folder", folder)
    inside = lambda namespace, *command: subprocess.Popen(["ip", "netns", "exec", namespace, *command],
                                                          stdout=subprocess.PIPE, text=True)
    server = inside("rk-b", os.path.join(options.programs, "reckoner-server"), "--scenario", "crowd", "--entities", "20",
                    "--insecure", "--host", "10.90.0.2", "--port", "7777", "--watch-host", "10.90.0.2", "--watch-port",
                    "7778", "--truth", truth, "--seconds", str(options.seconds + (25 if options.pages else 8)),
                    *(["--watch-page", folder] if options.pages else []))
    time.sleep(1.0)
    clients = {}
    for i in range(options.browsers):
        clients[f"browser {i}"] = inside(
            "rk-a", "node", "--no-warnings", "--experimental-websocket", os.path.join(HERE, "live_client.mjs"),
            "ws://10.90.0.2:7778/", str(options.seconds + 2), os.path.join(scratch, f"browser {i}.csv"))
    for transport in ("data-channel", "websocket") if options.pages else ():
        clients[transport] = inside("rk-a", "node", os.path.join(HERE, "live_page.mjs"), "http://10.90.0.2:7778/",
                                    str(options.seconds), os.path.join(scratch, f"{transport}.csv"), transport)
    time.sleep(2.0)  # Node.js needs longer to start
    for i in range(options.native):
        clients[f"native {i}"] = inside(
            "rk-a", os.path.join(options.programs, "reckoner-client"), "--insecure", "--quiet", "--connect",
            "10.90.0.2:7777", "--seconds", str(options.seconds), "--rendered", os.path.join(scratch, f"native {i}.csv"))
    for client, each in clients.items():
        said = each.communicate()[0]
        if client in ("data-channel", "websocket"):
            print(f"{name:10} {said.strip()}")
    server.wait()
    os.kill(link, signal.SIGKILL)
    os.waitpid(link, 0)
    rows = {client: p95(options.harness, truth, os.path.join(scratch, f"{client}.csv"), latency, scratch)
            for client in clients}
    for namespace in ("rk-a", "rk-b"):
        sh("ip", "netns", "del", namespace)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("harness")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--native", type=int, default=1)
    parser.add_argument("--browsers", type=int, default=3)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(NETWORKS))
    parser.add_argument("--json")
    options = parser.parse_args()
    everything = {}
    for name in options.only:
        scratch = tempfile.mkdtemp(prefix="reckoner-")
        try:
            everything[name] = measure(options, name, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        for client, figures in everything[name].items():
            error = figures["now_error_m"]
            print(f"{name:10} {client:10} same-time error p50 {error['p50']:.4f} p95 {error['p95']:.4f} "
                  f"p99 {error['p99']:.4f} max {error['max']:.3f} m")
            sys.stdout.flush()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(everything, file, indent=1)


main()
