"""Processes that check programs, one after the other, so that a crash or a hang loses one program only.

A worker reads one JSON object a line ({"seed": n, "source": text or null}).  It generates the program from the seed; a
source stands in for the generated one.  It answers with two: the program ({"source": ..., "shown": ...}) before it
runs, so that its parent, which generates nothing itself, has the text of what hangs or crashes, and then what came of
it ({"verdict": ..., "text": ..., "device": ...}).
"""

import importlib
import json
import os
import pathlib
import selectors
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent


def serve(subject, gpu):
    """The life of a worker."""
    answers = os.fdopen(os.dup(1), "w")  # what a program prints must not get between the answers
    os.dup2(2, 1)
    module = importlib.import_module(subject)
    device = module.device() if subject == "kernels" else "the host"

    def answer(**items):
        print(json.dumps(items), file=answers, flush=True)

    for line in sys.stdin:
        question = json.loads(line)
        try:
            program = module.generate(question["seed"])
            program.source = question["source"] or program.source
            answer(source=program.source, shown=str(program))
            verdict, text = module.check(program, gpu) if subject == "kernels" else module.check(program)
        except Exception:
            verdict, text = "broken", traceback.format_exc()
        answer(verdict=verdict, text=text, device=device)


class Worker:
    """A worker as its parent sees it."""

    LIFE = 300  # programs until a fresh process takes over

    def __init__(self, subject, gpu=False, timeout=60):
        self.subject, self.gpu, self.timeout = subject, gpu, timeout
        self.process, self.asked, self.errors = None, 0, None
        self.device = "none"  # where the last program ran
        self.program, self.read = {}, b""  # the last program as it was answered; what is read and no line yet

    def start(self):
        environment = dict(os.environ, PYTHONSAFEPATH="1", PYTHONFAULTHANDLER="1")
        environment["KRAIT_CUDA_DEVICE"] = "gpu" if self.gpu else "cpu"
        command = [sys.executable, str(HERE / "run.py"), self.subject, "--serve", *(["--gpu"] if self.gpu else [])]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=environment)
        self.asked, self.read = 0, b""

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
        self.process = None

    def line(self, until):
        """The next line of the worker's answers; empty at their end, None if there is none in time."""
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.read:
                if not ready.select(max(until - time.monotonic(), 0)):
                    return None
                more = os.read(self.process.stdout.fileno(), 1 << 16)
                if not more:
                    return b""
                self.read += more
        line, _, self.read = self.read.partition(b"\n")
        return line

    def ask(self, seed, source=None):
        """(verdict, text) of a program; "hang" and "crash" are verdicts, too."""
        if not self.process or self.asked >= self.LIFE:
            self.stop()
            self.start()
        self.asked += 1
        self.program, until = {}, time.monotonic() + self.timeout
        try:
            self.process.stdin.write(json.dumps({"seed": seed, "source": source}).encode() + b"\n")
            self.process.stdin.flush()
            line = self.line(until)
            if line and "source" in json.loads(line):
                self.program = json.loads(line)
                line = self.line(until)
        except BrokenPipeError:
            line = b""
        if line:
            answer = json.loads(line)
            self.device = answer["device"]
            return answer["verdict"], answer["text"]
        if line is None:
            what = "no answer" if self.program else "no program"
            verdict = "hang", f"{what} within {self.timeout} s"
        else:
            status = self.process.wait()
            self.errors.seek(0)
            verdict = "crash", f"the process ended with {status}: {self.errors.read()[-1500:]}"
        self.stop()
        return verdict
