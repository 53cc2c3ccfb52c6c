"""Processes that check programs, one after the other, so that a crash or a hang loses one program only.

A worker reads one JSON object a line ({"seed": n, "source": text or null, "gpu": bool}) and answers with one
({"verdict": ..., "text": ..., "device": ...}).  It generates the program from the seed; a source stands in for the
generated one.
"""

import importlib
import json
import os
import pathlib
import selectors
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent


def serve(subject, gpu):
    """The life of a worker."""
    answers = os.fdopen(os.dup(1), "w")  # what a program prints must not get between the answers
    os.dup2(2, 1)
    module = importlib.import_module(subject)
    device = module.device() if subject == "kernels" else "the host"
    for line in sys.stdin:
        question = json.loads(line)
        try:
            program = module.generate(question["seed"])
            program.source = question["source"] or program.source
            verdict, text = module.check(program, gpu) if subject == "kernels" else module.check(program)
        except Exception:
            verdict, text = "broken", traceback.format_exc()
        print(json.dumps({"verdict": verdict, "text": text, "device": device}), file=answers, flush=True)


class Worker:
    """A worker as its parent sees it."""

    LIFE = 300  # programs until a fresh process takes over

    def __init__(self, subject, gpu=False, timeout=60):
        self.subject, self.gpu, self.timeout = subject, gpu, timeout
        self.process, self.asked, self.errors = None, 0, None
        self.device = "none"  # where the last program ran

    def start(self):
        environment = dict(os.environ, PYTHONSAFEPATH="1", PYTHONFAULTHANDLER="1")
        environment["KRAIT_CUDA_DEVICE"] = "gpu" if self.gpu else "cpu"
        command = [sys.executable, str(HERE / "run.py"), self.subject, "--serve", *(["--gpu"] if self.gpu else [])]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env=environment)
        self.asked = 0

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
        self.process = None

    def ask(self, seed, source=None):
        """(verdict, text) of a program; "hang" and "crash" are verdicts, too."""
        if not self.process or self.asked >= self.LIFE:
            self.stop()
            self.start()
        self.asked += 1
        try:
            self.process.stdin.write(json.dumps({"seed": seed, "source": source}) + "\n")
            self.process.stdin.flush()
            with selectors.DefaultSelector() as ready:
                ready.register(self.process.stdout, selectors.EVENT_READ)
                line = self.process.stdout.readline() if ready.select(self.timeout) else None
        except BrokenPipeError:
            line = ""
        if line:
            answer = json.loads(line)
            self.device = answer["device"]
            return answer["verdict"], answer["text"]
        if line is None:
            verdict = "hang", f"no answer within {self.timeout} s"
        else:
            status = self.process.wait()
            self.errors.seek(0)
            verdict = "crash", f"the process ended with {status}: {self.errors.read()[-1500:]}"
        self.stop()
        return verdict
