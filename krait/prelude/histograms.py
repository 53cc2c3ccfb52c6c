"""numpy.histogramdd: points of several coordinates counted in the cells of a grid."""

import numpy as np

from krait.prelude.counting import edge_dtype, given_edges, histogram_bin_edges, range_of, weight_of
from krait.prelude.intrinsics import with_item
from krait.prelude.sorting import first_behind


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    # The number of axes is part of a type: it is that of the sequences that are given.
    if isinstance(sample, tuple):
        return _in_grid(_in_columns(sample), _bins_of(sample, bins), range, density, weights)
    points = np.asarray(sample)
    if points.ndim != 2:
        raise ValueError("the sample is an array of one row for each point")
    if not isinstance(bins, (tuple, list)):
        raise TypeError("bins of an array of points are a tuple, of a number or edges for each coordinate")
    if len(bins) != points.shape[1]:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return _in_grid(points, bins, range, density, weights)


def _in_columns(sample):
    n = len(np.asarray(sample[0]))
    points = np.empty((n, len(sample)), np.result_type(*sample))
    _fill_columns(points, sample, 0)
    return points


def _fill_columns(points, sample, k):
    if len(sample) > 0:
        points[:, k] = np.asarray(sample[0])
        _fill_columns(points, sample[1:], k + 1)


def _bins_of(sample, bins):
    # One for each axis.
    if isinstance(bins, tuple):
        if len(bins) != len(sample):
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
        return bins
    return (bins,) * len(sample)


def _kind_of(points, bins, range):
    # What edges are numbers of: they are in one list.
    if range is not None:
        return np.dtype(np.float64)
    if len(bins) == 0:
        return edge_dtype(points)
    if not isinstance(bins[0], int):
        return np.dtype(np.float64)
    return _kind_of(points, bins[1:], range)


def _edges(points, bins, range, k, dtype):
    # A tuple of the edges along each axis from axis k on.
    if len(bins) == 0:
        return ()
    here = _edges_of(points[:, k].astype(dtype), bins[0], range_of(range, k), k).astype(dtype)
    return (here,) + _edges(points, bins[1:], range, k + 1, dtype)


def _edges_of(x, bins, range, k):
    if isinstance(bins, int):
        if bins < 1:
            raise ValueError(f"`bins[{k}]` must be positive, when an integer")
        return histogram_bin_edges(x, bins, range)
    return given_edges(np.asarray(bins))


def _cell(edges, x):
    # Which interval x lies in, or -1; the last one has its end.
    n = len(edges) - 1
    if not (x >= edges[0] and x <= edges[n]):
        return -1
    return n - 1 if x == edges[n] else first_behind(edges, x) - 1


def _cells_of(edges):
    if len(edges) == 0:
        return ()
    return (len(edges[0]) - 1,) + _cells_of(edges[1:])


def _place(edges, point, place, k):
    # The cell of a point as one number, or -1.
    if len(edges) == 0:
        return place
    here = _cell(edges[0], np.float64(point[k]))
    if here < 0:
        return -1
    return _place(edges[1:], point, place * (len(edges[0]) - 1) + here, k + 1)


def _in_grid(points, bins, range, density, weights):
    edges = _edges(points, bins, range, 0, _kind_of(points, bins, range))
    grid = np.zeros(_cells_of(edges), np.float64)
    cells = grid.ravel()
    k = 0
    for point in points:
        place = _place(edges, point, 0, 0)
        if place >= 0:
            cells[place] += weight_of(weights, k)
        k += 1
    if density is not None:
        if density:
            total = grid.sum()
            _divide(grid, edges, 0)
            grid /= total
    return grid, list(edges)


def _divide(grid, edges, k):
    # By the widths of the cells.
    if len(edges) > 0:
        shape = grid.shape
        for axis in range(grid.ndim):
            shape = with_item(shape, axis, len(edges[0]) - 1 if axis == k else 1)
        grid /= np.diff(edges[0]).reshape(shape)
        _divide(grid, edges[1:], k + 1)
