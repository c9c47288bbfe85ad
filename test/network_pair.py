# SPDX-FileCopyrightText: 2026 The Pinhole authors
# SPDX-License-Identifier: MIT
"""Two network namespaces with a real interface (veth) between them, for checks that need a network that is not loopback.

    network_pair.make_mounts()                  # once, first of all: starts the script anew
    with network_pair.Pair() as pair:
        subprocess.Popen([*pair.at_server, ...])    # 10.77.0.1
        subprocess.run([*pair.at_clients, ...])     # 10.77.0.2

Needs root, iproute2, and a kernel that allows namespaces and veth; where one of them is missing, Missing says which.
"""

import os
import shutil
import subprocess
import sys

SERVER_ADDRESS, CLIENTS_ADDRESS = "10.77.0.1", "10.77.0.2"

# Set once we have mounts of our own: `ip netns` mounts things that would outlive us.
OWN_MOUNTS = "PINHOLE_CHECK_MOUNTS"


class Missing(Exception):
    """This machine cannot do it: the check is skipped."""


def need(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"`{' '.join(command)}`: {done.stderr.strip()}")
    return done.stdout


def make_mounts(*tools):
    """Starts this script once more, with mounts of its own that end with it. tools are (command, Debian package)."""
    if os.geteuid() != 0:
        raise Missing("not root")
    for tool, package in (("ip", "iproute2"), ("unshare", "util-linux"), *tools):
        if shutil.which(tool) is None:
            raise Missing(f"there is no {tool} (package {package})")
    if OWN_MOUNTS not in os.environ:
        need("unshare", "--mount", "true")
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], {**os.environ, OWN_MOUNTS: "1"})


class Pair:
    def __init__(self):
        self.server, self.clients = (f"pinhole{os.getpid()}{end}" for end in "ab")
        self.at_server, self.at_clients = (["ip", "netns", "exec", name] for name in (self.server, self.clients))

    def __enter__(self):
        try:
            for name in (self.server, self.clients):
                need("ip", "netns", "add", name)
            need("ip", "link", "add", "pinhole0", "netns", self.server, "type", "veth", "peer", "name", "pinhole1", "netns",
                 self.clients)
            for name, device, address in ((self.server, "pinhole0", SERVER_ADDRESS),
                                          (self.clients, "pinhole1", CLIENTS_ADDRESS)):
                need("ip", "-n", name, "addr", "add", f"{address}/24", "dev", device)
                need("ip", "-n", name, "link", "set", device, "up")
                need("ip", "-n", name, "link", "set", "lo", "up")
                need("ip", "netns", "exec", name, "true")
        except Missing:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in (self.server, self.clients):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def lose(self, percent):
        """Loses this share of all UDP datagrams, both ways, where they arrive: a sender is told nothing."""
        for where in (self.at_server, self.at_clients):
            need(*where, "nft", f"add table inet loss; add chain inet loss arriving {{ type filter hook input priority 0; }}; "
                 f"add rule inet loss arriving meta l4proto udp numgen random mod 100 < {percent} counter drop")

    def lost_counts(self):
        """How many datagrams were lost on the way to the server, and to the clients."""
        rules = [need(*where, "nft", "list", "chain", "inet", "loss", "arriving") for where in (self.at_server, self.at_clients)]
        return [int(text.split("counter packets ")[1].split()[0]) for text in rules]
