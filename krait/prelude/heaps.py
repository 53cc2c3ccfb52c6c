"""The modules heapq and bisect on lists, step by step as the interpreter has them: what is compared, in which order."""


def sift_down(heap, start, at):
    # The new item at `at` rises among its parents, not beyond `start`.
    item = heap[at]
    while at > start:
        parent = heap[(at - 1) >> 1]
        if not item < parent:
            break
        heap[at] = parent
        at = (at - 1) >> 1
    heap[at] = item


def sift_up(heap, at):
    # Lesser children move up to a leaf; the item from `at` goes there and rises again.
    end = len(heap)
    start = at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    sift_down(heap, start, at)


def heappush(heap, item):
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def heappop(heap):
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    sift_up(heap, 0)
    return least


def heapreplace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    sift_up(heap, 0)
    return least


def heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        least = heap[0]
        heap[0] = item
        sift_up(heap, 0)
        return least
    return item


def heapify(x):
    for i in range(len(x) // 2 - 1, -1, -1):
        sift_up(x, i)


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[: max(n, 0)]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


# ---- bisect ----


def end_of(a, lo, hi):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None:
        return len(a)
    return hi


def bisect_left(a, x, lo=0, hi=None, key=None):
    high = end_of(a, lo, hi)
    while lo < high:
        middle = (lo + high) // 2
        if key_of(a[middle], key) < x:
            lo = middle + 1
        else:
            high = middle
    return lo


def bisect_right(a, x, lo=0, hi=None, key=None):
    high = end_of(a, lo, hi)
    while lo < high:
        middle = (lo + high) // 2
        if x < key_of(a[middle], key):
            high = middle
        else:
            lo = middle + 1
    return lo


def key_of(item, key):
    if key is None:
        return item
    return key(item)


def insort_left(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_left(a, key_of(x, key), lo, hi, key), x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_right(a, key_of(x, key), lo, hi, key), x)


# ---- merge ----


def merge(*iterables, key=None, reverse=False):
    lists = [[item for item in iterable] for iterable in iterables]
    places = [0] * len(lists)
    going = len(lists) > 0
    while going:
        best = -1
        for i in range(len(lists)):
            if places[i] < len(lists[i]) and (best < 0 or _comes_before(lists[i][places[i]], least, key, reverse)):
                best = i
                least = lists[i][places[i]]
        going = best >= 0
        if going:
            places[best] += 1
            yield least


def _comes_before(x, y, key, reverse):
    if reverse:
        return key_of(y, key) < key_of(x, key)
    return key_of(x, key) < key_of(y, key)
