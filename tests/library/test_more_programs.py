"""Programs of ten more fields as people write them for NumPy, compiled with @njit alone: what the interpreter gives."""

import heapq
import math

import numpy as np
import pytest

from krait import njit
from oracle import compare_outcomes, copy_argument, outcome

PROGRAMS = []
rng = np.random.default_rng(11)


def prog(*args):
    def add(function):
        PROGRAMS.append((function, args))
        return function

    return add


# ---- signal processing


@prog(rng.standard_normal(300), rng.standard_normal(300), 64)
def coherence(x, y, nperseg):
    step = nperseg // 2
    window = np.hanning(nperseg)
    starts = range(0, len(x) - nperseg + 1, step)
    Pxx = np.zeros(nperseg // 2 + 1)
    Pyy = np.zeros_like(Pxx)
    Pxy = np.zeros(Pxx.shape, dtype=complex)
    for k, s in enumerate(starts):
        X = np.fft.rfft(window * (x[s:s + nperseg] - x[s:s + nperseg].mean()))
        Y = np.fft.rfft(window * (y[s:s + nperseg] - np.mean(y[s:s + nperseg])))
        Pxx += (np.abs(X) ** 2 - Pxx) / (k + 1)
        Pyy += (np.abs(Y) ** 2 - Pyy) / (k + 1)
        Pxy += (np.conj(X) * Y - Pxy) / (k + 1)
    coh = np.abs(Pxy) ** 2 / (Pxx * Pyy)
    lag = np.argmax(np.correlate(x, y, mode='full')) - (len(y) - 1)
    return np.round(coh, 9), np.unwrap(np.angle(Pxy))[:5].round(9), lag


@prog(rng.standard_normal(30), rng.standard_normal(25), 6)
def dtw(a, b, w):
    n, m = len(a), len(b)
    w = max(w, abs(n - m))
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - w), min(m, i + w) + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    path = [(n - 1, m - 1)]
    i, j = n, m
    while (i, j) != (1, 1):
        steps = [(D[i - 1, j - 1], i - 1, j - 1), (D[i - 1, j], i - 1, j), (D[i, j - 1], i, j - 1)]
        _, i, j = min(steps)
        path.append((i - 1, j - 1))
    return math.sqrt(D[n, m]), path[::-1]


# ---- geophysics


@prog(rng.exponential(0.5, 400) + 2.0, np.linspace(-0.1, 0.1, 41))
def seismology(mags, t):
    bins = np.arange(2.0, mags.max() + 0.1, 0.1)
    counts, edges = np.histogram(mags, bins)
    cumulative = counts[::-1].cumsum()[::-1]
    good = cumulative > 0
    coeff = np.polyfit(edges[:-1][good], np.log10(cumulative[good]), 1)
    mc = edges[np.argmax(counts)]
    above = mags[mags >= mc - 1e-9]
    b = np.log10(np.e) / (above.mean() - (mc - 0.05))
    f = 25.0
    ricker = (1.0 - 2.0 * (np.pi * f * t) ** 2) * np.exp(-((np.pi * f * t) ** 2))
    rho = np.array([2200.0, 2300.0, 2250.0, 2600.0])
    vp = np.array([1800.0, 2200.0, 2100.0, 3500.0])
    z = rho * vp
    r = np.diff(z) / (z[1:] + z[:-1])
    series = np.zeros(60)
    series[[10, 25, 44]] = r
    trace = np.convolve(series, ricker, mode="same")
    return coeff.round(8), round(b, 8), trace.round(10), int(mc * 10)


# ---- epidemiology


@prog(np.array([[8.0, 2.0, 1.0], [2.0, 6.0, 2.0], [1.0, 2.0, 3.0]]), np.array([3e5, 5e5, 2e5]), 120)
def seir(contacts, population, days):
    beta, sigma, gamma = 0.03, 1 / 5.2, 1 / 7
    ngm = beta / gamma * contacts * population[:, None] / population[None, :]
    R0 = max(abs(np.linalg.eigvals(ngm)))
    S = population.astype(float)
    E, I, R = np.zeros((3, 3))
    I[1] = 10
    S -= I
    history = np.empty((days, 4))
    for day in range(days):
        force = beta * contacts @ (I / population)
        new_e, new_i, new_r = force * S, sigma * E, gamma * I
        S, E, I, R = S - new_e, E + new_e - new_i, I + new_i - new_r, R + new_r
        history[day] = S.sum(), E.sum(), I.sum(), R.sum()
    peak = history[:, 2].argmax()
    doubling = None
    for d in range(1, days):
        if history[d, 2] >= 2 * history[0, 2]:
            doubling = d
            break
    return round(R0, 9), history.round(6), peak, doubling if doubling is not None else -1


# ---- finance


@prog(np.array(["2024-01-15", "2024-07-15", "2025-01-15", "2026-01-15", "2028-01-15"], "M8[D]"),
      np.array([0.05, 0.048, 0.045, 0.042, 0.04]), np.datetime64("2024-01-02"))
def curve(pillars, rates, today):
    t = (pillars - today) / np.timedelta64(365, "D")
    df = np.exp(-rates * t)
    coupons = [today + np.timedelta64(182 * k, "D") for k in range(1, 8)]
    pv = 0.0
    for day in coupons:
        x = (day - today) / np.timedelta64(365, "D")
        pv += 2.5 * np.exp(np.interp(x, t, np.log(df)))
    pv += 100 * np.exp(np.interp((coupons[-1] - today) / np.timedelta64(365, "D"), t, np.log(df)))
    lo, hi = -0.5, 1.0
    for _ in range(60):
        y = 0.5 * (lo + hi)
        price = 0.0
        for k in range(1, 8):
            price += 2.5 / (1 + y / 2) ** k
        price += 100 / (1 + y / 2) ** 7
        if price > pv:
            lo = y
        else:
            hi = y
    business = np.zeros(len(pillars), bool)
    for i, d in enumerate(pillars):
        business[i] = (d.astype("M8[D]").astype(int) + 3) % 7 < 5
    return round(pv, 10), round(y, 10), business, np.diff(pillars).astype(int)


# ---- image analysis


@prog((rng.random((20, 24)) > 0.8).astype(np.uint8), 36)
def hough(edges, n_theta):
    h, w = edges.shape
    diag = int(np.ceil(np.hypot(h, w)))
    thetas = np.deg2rad(np.linspace(-90, 90, n_theta, endpoint=False))
    acc = np.zeros((2 * diag + 1, n_theta), dtype=np.uint32)
    ys, xs = np.nonzero(edges)
    for x, y in zip(xs, ys):
        for k, th in enumerate(thetas):
            rho = int(round(x * np.cos(th) + y * np.sin(th))) + diag
            acc[rho, k] += 1
    best = np.dstack(np.unravel_index(np.argsort(-acc.ravel().astype(int), kind="stable")[:5], acc.shape))[0]
    integral = np.pad(edges.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    box = integral[5:, 5:] - integral[:-5, 5:] - integral[5:, :-5] + integral[:-5, :-5]
    return acc.sum(), best, box, (box > box.mean() + box.std()).sum()


# ---- chemistry


@prog(np.array([[0, 1, 0, 0, 0, 1], [1, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1],
                [1, 0, 0, 0, 1, 0]]), rng.random((500, 2)))
def huckel_and_gillespie(adjacency, u):
    alpha, beta = 0.0, -1.0
    H = alpha * np.eye(len(adjacency)) + beta * adjacency
    energies = np.linalg.eigvalsh(H)
    occupied = np.repeat(energies, 2)[: len(adjacency)]
    stoich = np.array([[-1, -1, 1], [1, 1, -1], [0, 1, -1]])
    state, t, k = np.array([50, 60, 0]), 0.0, (0.01, 0.1, 0.05)
    times, states = [t], [state.copy()]
    for r1, r2 in u:
        a = np.array([k[0] * state[0] * state[1], k[1] * state[2], k[2] * state[2]])
        total = a.sum()
        if total == 0 or t > 20:
            break
        t -= math.log(r1) / total
        state = state + stoich[np.searchsorted(np.cumsum(a), r2 * total)]
        times.append(t)
        states.append(state)
    return energies.round(9), round(occupied.sum(), 9), len(times), states[-1], np.array(states).mean(axis=0).round(9)


# ---- games


@prog(np.array([[1, 0, 2], [0, 1, 0], [2, 0, 0]], np.int8), 1)
def tictactoe(board, player):
    lines = [[(r, c) for c in range(3)] for r in range(3)]
    lines += [[(r, c) for r in range(3)] for c in range(3)]
    lines += [[(i, i) for i in range(3)], [(i, 2 - i) for i in range(3)]]

    def winner(b):
        for line in lines:
            if b[line[0]] != 0 and b[line[0]] == b[line[1]] == b[line[2]]:
                return int(b[line[0]])
        return 0

    def minimax(b, who, alpha, beta):
        w = winner(b)
        if w:
            return 1 if w == 1 else -1
        if not (b == 0).any():
            return 0
        best = -2 if who == 1 else 2
        for r, c in np.argwhere(b == 0):
            b[r, c] = who
            score = minimax(b, 3 - who, alpha, beta)
            b[r, c] = 0
            if who == 1:
                best = max(best, score)
                alpha = max(alpha, best)
            else:
                best = min(best, score)
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best

    moves = {}
    for r, c in np.argwhere(board == 0):
        b = board.copy()
        b[r, c] = player
        moves[(int(r), int(c))] = minimax(b, 3 - player, -2, 2)
    ranked = sorted(moves.items(), key=lambda kv: (-kv[1], kv[0]))
    return ranked


# ---- graphs


@prog(np.array([[0, 1], [0, 2], [1, 2], [2, 0], [2, 3], [3, 3], [4, 1], [4, 2], [5, 4], [1, 5]]), 6)
def graphs(edges, n):
    A = np.zeros((n, n))
    for u, v in edges:
        A[v, u] = 1
    out = A.sum(axis=0)
    M = np.divide(A, out, out=np.full_like(A, 1 / n), where=out > 0)
    rank = np.ones(n) / n
    while True:
        new = 0.85 * M @ rank + 0.15 / n
        if np.abs(new - rank).sum() < 1e-12:
            break
        rank = new
    neighbours = {u: [] for u in range(n)}
    for u, v in edges:
        neighbours[u].append((v, 1.0 + abs(u - v)))
    dist = {0: 0.0}
    queue = [(0.0, 0)]
    previous = {}
    while queue:
        d, u = heapq.heappop(queue)
        if d > dist.get(u, np.inf):
            continue
        for v, weight in neighbours[u]:
            if d + weight < dist.get(v, np.inf):
                dist[v] = d + weight
                previous[v] = u
                heapq.heappush(queue, (dist[v], v))
    degree, counts = np.unique(out.astype(int), return_counts=True)
    return rank.round(9), sorted(dist.items()), sorted(previous.items()), degree, counts


# ---- text statistics


@prog("the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs over the hill")
def text_statistics(text):
    words = text.split()
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    f = np.array([c for _, c in ranked], dtype=float)
    p = f / f.sum()
    entropy = -(p * np.log2(p)).sum()
    slope, intercept = np.polyfit(np.log(np.arange(1, len(f) + 1)), np.log(f), 1)
    letters = np.zeros(26, int)
    for ch in text:
        if ch.isalpha():
            letters[ord(ch) - ord("a")] += 1
    bigrams = {}
    for a, b in zip(text[:-1], text[1:]):
        if a != " " and b != " ":
            bigrams[a + b] = bigrams.get(a + b, 0) + 1
    top = max(bigrams, key=lambda k: (bigrams[k], k))
    ttr = len(set(words)) / len(words)
    return round(entropy, 10), round(slope, 9), letters, top, ttr, ranked[:3], max(len(w) for w in words)


# ---- control


@prog(np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]]), np.diag([1.0, 0.1]), np.array([[0.01]]))
def lqr(A, B, Q, R):
    P = Q.copy()
    for it in range(500):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        Pn = Q + A.T @ P @ (A - B @ K)
        if np.allclose(Pn, P, rtol=1e-12, atol=1e-12):
            break
        P = Pn
    poles = np.sort_complex(np.linalg.eigvals(A - B @ K))
    x = np.array([1.0, 0.0])
    trajectory = []
    integral = previous = 0.0
    for k in range(40):
        u = -(K @ x)
        trajectory.append((x[0], x[1], u.item()))
        x = A @ x + B @ u
        integral += x[0] * 0.1
        previous, derivative = x[0], (x[0] - previous) / 0.1
    C = np.hstack([B, A @ B])
    rank = np.linalg.matrix_rank(C)
    return K.round(8), np.abs(poles).round(8), np.array(trajectory).round(8), rank, integral, derivative


@pytest.mark.parametrize("program, args", PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_program(program, args):
    mine, its = copy_argument(args), copy_argument(args)
    compare_outcomes(outcome(njit(program), mine, {}), outcome(program, its, {}))
    compare_outcomes(mine, its)
