"""Random programs against the interpreter, in as many processes as asked for.

    python tests/fuzz/run.py functions --programs 100000 --jobs 2
    python tests/fuzz/run.py kernels --programs 1000 --seed 7 --gpu
    python tests/fuzz/run.py arrays --seconds 600 --jobs 16

Each program is made from its own seed, so that `--seed N --programs 1` makes it again, and a campaign may be run in
pieces: the last line says with which seed the next begins.  A failure is printed with its
program, whole and as small as it could be made; the last lines say how many programs there were of each verdict, what
was refused, and why nothing was compared of others.  The exit status tells whether all agreed.
"""

import argparse
import collections
import itertools
import pathlib
import random
import re
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import workers
from minimise import minimise

FAILURES = ("wrong", "crash", "hang", "broken")
MINIMISING = 120  # seconds at most that a failure is made smaller


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", choices=["functions", "objects", "classes", "kernels", "arrays"])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no program after this time")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--seed", type=int, help="of the first program; a fresh one is drawn otherwise")
    parser.add_argument("--gpu", action="store_true", help="kernels run on the GPU, with every option")
    parser.add_argument("--timeout", type=float, default=60, help="seconds after which a program hangs")
    parser.add_argument("--minimise", type=int, default=5, help="how many failures are made small")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def kind_of(reason):
    """The first line of a refusal, or of what differs, without the names, numbers and types of the program."""
    text = re.sub(r"array\([^()]*\)", "array", reason.split("\n")[0])
    return re.sub(r"`[a-zA-Z]\d+` ?(\((\w+)\))?", r"\2", re.sub(r"-?\b\d+\b", "N", text))


class Campaign:
    """What the threads of a run share: the next seed, the counts, the output."""

    def __init__(self, options):
        self.options = options
        self.first = random.SystemRandom().randrange(2**40) if options.seed is None else options.seed
        self.seeds = iter(range(self.first, self.first + options.programs))
        self.lock = threading.Lock()
        self.verdicts, self.devices, self.failed = collections.Counter(), collections.Counter(), []
        self.told = {verdict: collections.Counter() for verdict in ("refused", "differs as documented")}
        self.end = time.monotonic() + options.seconds
        self.small = itertools.count(1)

    def work(self):
        worker = workers.Worker(self.options.subject, self.options.gpu, self.options.timeout)
        while time.monotonic() < self.end:
            with self.lock:
                seed = next(self.seeds, None)
            if seed is None:
                break
            verdict, text = worker.ask(seed)
            with self.lock:
                self.verdicts[verdict] += 1
                self.devices[worker.device] += 1
                if verdict in self.told:
                    self.told[verdict][kind_of(text)] += 1
            if verdict in FAILURES:
                self.report(worker, seed, verdict, text)
        worker.stop()

    def report(self, worker, seed, verdict, text):
        program = worker.program
        lines = [f"---- seed {seed}: {verdict}: {text}", program.get("shown", "")]
        with self.lock:
            self.failed.append(seed)
            small = next(self.small) <= self.options.minimise and verdict != "broken" and program
        if small:
            until = min(time.monotonic() + MINIMISING, self.end)
            _, failure, shown = minimise(worker, seed, program, verdict, text, until)
            lines += ["---- as small as it could be made:", f"{failure[0]}: {failure[1]}", shown]
        with self.lock:
            print("\n".join(lines), flush=True)

    def summary(self):
        total = sum(self.verdicts.values())
        lines = [f"{self.options.subject}: {total} programs from seed {self.first}"]
        lines += [f"  {number:8} on {device}" for device, number in self.devices.most_common()]
        lines += [f"  {number:8} {verdict}" for verdict, number in self.verdicts.most_common()]
        for verdict, told in self.told.items():
            lines += [f"{verdict}: {100 * self.verdicts[verdict] / max(total, 1):.2f} %"]
            lines += [f"  {number:8} {text}" for text, number in told.most_common(20)]
        lines += [f"failed seeds: {self.failed}"] if self.failed else []
        lines += [f"to go on: --seed {self.first + total}"]
        return "\n".join(lines)


def main(arguments=None):
    options = parse(arguments)
    if options.serve:
        workers.serve(options.subject, options.gpu)
        return 0
    campaign = Campaign(options)
    print(f"{options.subject} from seed {campaign.first}", flush=True)
    threads = [threading.Thread(target=campaign.work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(campaign.summary())
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    sys.exit(main())
