"""Random programs of the array language, and their comparison with the interpreter.

Written from NumPy's manual, not from what compiled code takes: what is refused is counted.  A program is made with
sample values at hand: an expression that NumPy refuses for them, or whose value has no type that programs compute with,
is not written, and a variable keeps the type of its first value.  The calls that follow have arrays of other lengths,
so that errors of shapes and indices are met, too.  What a call put on the heap must be gone with its result.
"""

import re

import numpy as np

import kinds
import oracle
from documented import HELPERS, Differs, TooMuch, compiled_form, interpreted_forms, overflows_dates, to_the_end
from functions import load, refusal
from sampled import Sampled, program

from krait import _testing, errors, njit

CALLS = 4
ITEMS = (np.float64, np.float64, np.float32, np.int64, np.int64, np.int32, np.int8, np.uint8, np.uint16, np.bool_)
DATES = tuple(np.dtype(text) for text in ("M8[D]", "M8[h]", "M8[s]", "m8[D]", "m8[h]", "m8[s]", "m8[ms]"))
RECORD = np.dtype([("a", np.int32), ("b", np.float64), ("c", np.int8, 2), ("d", np.bool_), ("e", np.float32),
                   ("t", "M8[D]"), ("z", np.complex64)])
kinds.MODULES["RECORD"] = RECORD  # a name of programs
LARGEST = 200  # elements of a sample

# Slots: <A> array, <B> array of bools, <J> array of small indices, <S> number, <I> int, <N> small length, <X> axis,
# <O> an array that is changed, <D> dtype, <L> list, <K> slices, <V> vector, <R> array of records, <F> one of its
# fields, <T> array of dates or durations, <U> a date or duration.
CREATION = ("np.zeros(<N>)", "np.zeros((<N>, <N>))", "np.zeros(<N>, <D>)", "np.ones((<N>, <N>), <D>)", "np.ones(<N>)",
            "np.zeros((<N>, 2), dtype=<D>)", "np.full(<N>, <S>)", "np.full((<N>, <N>), <S>)", "np.zeros_like(<A>)",
            "np.ones_like(<A>)", "np.full_like(<A>, <S>)", "np.arange(<N>)", "np.arange(1, <N>)",
            "np.arange(<N>, 0, -1)", "np.arange(<N>, dtype=<D>)", "np.arange(<N>) * 0.5",
            "np.linspace(0.0, 1.0, <N>)", "np.eye(<N>)", "np.identity(<N>)", "np.array([<S>, <S>])",
            "np.array((<I>, <I>, <I>))", "np.array([[1, 2], [3, <I>]])", "<A>.copy()", "np.array(<A>)",
            "np.ascontiguousarray(<A>)", "np.asarray(<A>)", "np.array(<L>)", "np.array([<S> for i in range(<N>)])",
            "np.tri(<N>)", "np.diag(<V>)", "np.empty(0)",
            "np.zeros([<N>, 2])", "np.ones([<N>, <N>], <D>)", "np.full([<N>], <S>)")
ELEMENTWISE = ("(<A> + <A>)", "(<A> - <A>)", "(<A> * <A>)", "(<A> / <A>)", "(<A> // <A>)", "(<A> % <A>)",
               "(<A> + <S>)", "(<S> - <A>)", "(<A> * <S>)", "(<A> / <S>)", "(<S> / <A>)", "(<A> // <S>)",
               "(<A> % <S>)", "(-<A>)", "(<A> ** 2)", "abs(<A>)", "(<A> & <A>)", "(<A> | <S>)", "(<A> ^ <A>)",
               "(~<A>)", "(<A> << 2)", "(<A> >> 1)", "(<A> < <A>)", "(<A> <= <S>)", "(<A> == <A>)", "(<S> != <A>)",
               "(<A> > <S>)", "(<A> >= <A>)", "np.minimum(<A>, <A>)", "np.maximum(<A>, <S>)", "np.sqrt(<A>)",
               "np.floor(<A>)", "np.ceil(<A>)", "np.rint(<A>)", "np.sign(<A>)", "np.square(<A>)", "np.isnan(<A>)",
               "np.isfinite(<A>)", "np.abs(<A>)", "np.logical_and(<A>, <A>)", "np.logical_not(<A>)",
               "np.where(<B>, <A>, <A>)", "np.where(<B>, <A>, <S>)", "np.where(<A> > <S>, <A>, <S>)",
               "np.clip(<A>, 0, 5)", "np.clip(<A>, <S>, <S>)", "<A>.clip(0, 3)", "np.round(<A>)",
               "<A>.astype(np.float64)", "<A>.astype(np.float32)", "<A>.round()", "np.trunc(<A>)",
               "np.fmin(<A>, <A>)", "np.fmax(<A>, <S>)", "np.nan_to_num(<A>)", "(not <B>)", "np.add(<A>, <A>)",
               "np.multiply(<A>, <S>)", "np.divmod(<A>, <A>)[1]", "np.isclose(<A>, <A>)", "np.copysign(<A>, <S>)",
               "np.reciprocal(<A>)", "np.add(<A>, <A>, dtype=np.float64)")
VIEWS = ("<A>[<K>]", "<A>[<K>]", "<A>[<K>]", "<A>[::-1]", "<A>.T", "<A>.reshape(-1)", "<A>.ravel()", "<A>.flatten()",
         "<A>[None]", "<A>[..., None]", "<A>[np.newaxis, ...]", "<A>[<I>]", "<A>[:, <I>]", "<A>[<I>, :]",
         "<A>[..., 0]", "np.transpose(<A>)", "np.expand_dims(<A>, 0)", "np.squeeze(<A>)", "np.flip(<A>)",
         "np.fliplr(<A>)", "np.swapaxes(<A>, 0, 1)", "<A>.swapaxes(0, -1)", "<A>.transpose()", "np.diag(<A>)",
         "<A>.diagonal()", "<A>.real", "np.reshape(<A>, (1, -1))", "<A>.reshape(<A>.size, 1)", "np.atleast_2d(<A>)",
         "np.broadcast_to(<V>, (2, <V>.size))", "np.rot90(<A>)", "np.moveaxis(<A>, 0, -1)", "<A>[::-1, ::2]",
         "<A>[-1:0:-1]", "<A>[1:][::-1]", "<A>[..., ::-2]", "<A>.T[<K>]")
INDEXED = ("<A>[<B>]", "<A>[<A> > <S>]", "<A>[<J>]", "<A>[<J>, 0]", "<A>[:, <J>]", "<A>[<J>, <J>]",
           "np.take(<A>, <J>)", "np.take(<A>, <J>, axis=0)", "np.nonzero(<A>)[0]", "np.flatnonzero(<A>)",
           "np.argwhere(<A>)", "<A>.take(<J>)", "np.compress(<B>, <A>)", "np.extract(<B>, <A>)", "<A>[[0, -1]]",
           "np.where(<B>)[0]", "<A>[<B>, 0]", "<A>[<J>, 1:]", "<A>[<I>, <J>]", "<A>[::-1, <J>]", "<A>[<J>, ::-2]",
           "np.take(<A>, <J>, axis=<X>)", "<A>[<J>, None]", "<A>[<L>]", "<A>[<J>, <L>]")
REDUCED = ("<A>.sum()", "<A>.sum(axis=<X>)", "np.sum(<A>)", "np.sum(<A>, axis=<X>, keepdims=True)", "<A>.sum(<X>)",
           "<A>.min()", "<A>.max(axis=<X>)", "np.min(<A>)", "np.max(<A>, axis=<X>)", "<A>.mean()",
           "<A>.mean(axis=<X>)", "np.mean(<A>)", "<A>.argmin()", "np.argmax(<A>)", "<A>.argmax(axis=<X>)",
           "<A>.any()", "np.all(<A>)", "np.any(<A> > <S>)", "np.all(<A>, axis=<X>)", "np.prod(<J>)", "<J>.prod()",
           "<A>.cumsum()", "np.cumsum(<A>, axis=<X>)", "np.cumprod(<J>)", "np.ptp(<A>)", "np.count_nonzero(<A>)",
           "np.median(<A>)", "np.diff(<A>)", "np.var(<A>)", "np.std(<A>)", "np.trace(<A>)", "np.nansum(<A>)",
           "np.nanmax(<A>)", "((<A> - <A>.mean()) ** 2).sum()", "np.sum(<A> * <A>)", "np.sum(<A>, dtype=np.float64)",
           "np.average(<A>)", "np.amax(<A>)", "np.max(<A>, axis=(0, 1))", "np.sum(<A>, axis=(0, -1))",
           "np.cumsum(<V>)[-1]", "np.array_equal(<A>, <A>)",
           "np.allclose(<A>, <A>)", "<A>.sum(axis=<I>)", "np.max(<A>, axis=<I>)", "np.argmin(<A>, axis=<I>)",
           "np.cumsum(<A>, axis=<I>)", "np.mean(<A>, axis=<I>, keepdims=True)")
JOINED = ("np.concatenate((<A>, <A>))", "np.concatenate((<A>, <A>), axis=<X>)", "np.hstack((<A>, <A>))",
          "np.vstack((<A>, <A>))", "np.stack((<A>, <A>))", "np.append(<A>, <S>)", "np.append(<A>, <A>)",
          "np.repeat(<A>, 2)", "np.tile(<A>, 2)", "np.roll(<A>, 1)", "np.sort(<V>)", "np.sort(<A>, axis=0)",
          "np.argsort(np.unique(<A>))", "np.unique(<A>)", "np.searchsorted(np.sort(<V>), <S>)", "np.bincount(<J>)",
          "np.isin(<A>, <J>)", "np.outer(<J>, <J>)", "np.dot(<J>, <J>)", "(<J> @ <J>)", "np.split(<V>, 1)[0]",
          "np.delete(<V>, 0)", "np.insert(<V>, 0, <S>)", "np.column_stack((<V>, <V>))", "np.kron(<J>, <J>)",
          "np.triu(<A>)", "np.tril(<A>)", "np.pad(<V>, 1)", "np.meshgrid(<V>, <V>)[0]", "np.convolve(<J>, <J>)",
          "np.interp(<S>, np.arange(3), np.arange(3))", "np.union1d(<J>, <J>)")
KEYWORDS = ("np.sum(<A>, axis=<X>, where=<B>)", "np.sum(<A>, where=<B>, initial=<S>)",
            "<A>.max(where=<B>, initial=-9)", "np.min(<A>, axis=<X>, initial=<S>)", "np.mean(<A>, where=<B>)",
            "np.any(<A>, axis=<X>, keepdims=True)", "np.all(<A>, axis=(0, 1))",
            "np.sum(<A>, axis=(0, 1), keepdims=True)", "np.prod(<A>, axis=<X>, dtype=<D>)",
            "np.cumsum(<A>, axis=<X>, dtype=<D>)", "<A>.cumprod(axis=<X>)", "np.cumulative_sum(<A>, axis=<X>)",
            "np.argmax(<A>, axis=<X>, keepdims=True)", "np.count_nonzero(<A>, axis=<X>)", "np.ptp(<A>, axis=<X>)",
            "np.median(<A>, axis=<X>, keepdims=True)", "np.average(<A>, axis=<X>)", "np.std(<A>, axis=<X>, ddof=1)",
            "np.var(<A>, axis=(0, 1))", "np.nansum(<A>, axis=<X>)", "np.nanmax(<A>, axis=<X>, keepdims=True)",
            "np.nancumsum(<A>, axis=<X>)", "np.percentile(<A>, 50, axis=<X>)", "np.quantile(<V>, [0.25, 0.5])",
            "np.average(<V>, weights=<V>)", "np.diff(<A>, axis=<X>)", "np.diff(<A>, n=2, prepend=<S>)",
            "np.trapezoid(<A>, axis=<X>)", "np.gradient(<A>, axis=<X>)", "np.max(<A>, axis=(0, -1), keepdims=True)",
            "np.add.reduce(<A>, axis=<X>)", "np.maximum.accumulate(<A>, axis=<X>)", "np.subtract.outer(<V>, <V>)",
            "np.logical_or.reduce(<A>, axis=<X>)", "np.minimum.reduce(<A>, axis=<X>, keepdims=True)")
SORTED = ("np.sort(<A>, axis=<X>)", "np.sort(<A>, axis=None)", "np.argsort(<A>, axis=<X>, kind='stable')",
          "np.argsort(<V>, kind='stable')", "np.partition(<V>, 0)[0]",
          "np.searchsorted(np.sort(<V>), <V>, side='right')", "np.digitize(<A>, np.array([0, 2, 4]))",
          "np.unique(<A>, return_counts=True)[1]", "np.unique(<V>, return_inverse=True)[1]",
          "np.unique(<A>, return_index=True)[1]", "np.unique(<A>, axis=0)", "np.intersect1d(<A>, <A>)",
          "np.setdiff1d(<A>, <J>)", "np.setxor1d(<J>, <J>)", "np.union1d(<A>, <V>)", "np.isin(<A>, <V>, invert=True)",
          "np.lexsort((<V>, <V>))", "np.take_along_axis(<A>, np.argsort(<A>), -1)", "np.take_along_axis(<V>, <J>, 0)",
          "np.argmin(<A>, axis=<X>)", "np.nanargmax(<A>)", "np.histogram(<V>, 3)[0]",
          "np.histogram(<J>, bins=[0, 1, 3])[0]", "np.bincount(<J>, minlength=5)",
          "(np.bincount(<J>, weights=<J>) + 0.0)", "np.select([<B>, <B>], [<A>, <A>], <S>)", "np.trim_zeros(<V>)",
          "np.interp(<V>, np.arange(4), np.arange(4))", "np.choose(<J>, (<V>, <S>, 1))",
          "np.unravel_index(<J>, (2, 3))[1]", "np.ravel_multi_index((<J>, <J>), (3, 3))", "np.sort_complex(<V>).real",
          "np.flatnonzero(<B>)", "np.extract(<B>, <A>)", "np.packbits(<B>, axis=<X>)")
PRODUCTS = ("np.einsum('ij,jk->ik', <A>, <A>)", "np.einsum('ij->j', <A>)", "np.einsum('ii', <A>)",
            "np.einsum('i,j->ij', <V>, <V>)", "np.einsum('ij,ij->i', <A>, <A>)", "np.einsum('...i->...', <A>)",
            "np.tensordot(<A>, <A>, 1)", "np.tensordot(<A>, <A>, axes=([0], [0]))", "np.tensordot(<A>, <A>, 2)",
            "np.inner(<A>, <V>)", "np.vdot(<V>, <V>)", "np.matmul(<A>, <A>)", "(<A> @ <V>)", "(<A> @ <A>.T)",
            "np.dot(<A>, <A>)", "np.dot(<A>, <S>)", "<A>.dot(<V>)", "np.outer(<V>, <V>)", "np.kron(<V>, <A>)",
            "np.cross(np.resize(<V>, 3), np.resize(<V>, 3))", "np.convolve(<V>, <V>, 'same')",
            "np.correlate(<V>, <V>)", "np.trace(<A>, 1)",
            "np.linalg.norm(<A>)", "np.linalg.norm(<A>, axis=<X>)", "np.linalg.norm(<V>, 1)", "np.linalg.det(<A>)",
            "np.linalg.inv(<A>)", "np.linalg.solve(<A>, <V>)", "np.linalg.matrix_power(<A>, 2)",
            "np.linalg.matrix_rank(<A>)", "np.linalg.cholesky(<A> @ <A>.T)", "np.polyval(<V>, <A>)",
            "np.vander(<V>, 3)", "np.multiply.outer(<V>, <A>)", "np.vecdot(<A>, <A>)")
LAID_OUT = ("np.pad(<A>, 1, mode='edge')", "np.pad(<A>, ((1, 0), (0, 2)))", "np.pad(<V>, 2, 'wrap')",
            "np.tile(<A>, (2, 1))", "np.repeat(<A>, 2, axis=<X>)", "np.repeat(<V>, <J>[:<V>.size])",
            "np.roll(<A>, 1, axis=<X>)", "np.flip(<A>, <X>)", "np.roll(<A>, (1, 2), axis=(0, 1))",
            "np.stack((<A>, <A>), axis=<X>)", "np.delete(<A>, <I>, axis=<X>)", "np.insert(<A>, 0, <S>, axis=<X>)",
            "np.append(<A>, <A>, axis=<X>)", "np.array_split(<A>, 2)[0]", "np.split(<A>, [1])[1]",
            "np.dstack((<A>, <A>))", "np.block([<V>, <V>])", "np.meshgrid(<V>, <V>)[1]", "np.diagflat(<V>)",
            "np.resize(<A>, (2, 3))", "np.broadcast_to(<A>, (2, *<A>.shape))", "<A>[None, :, None]",
            "<A>[np.ix_(<J>, <J>)]", "<A>[..., None, 0]", "<A>[<J>[:, None], <J>]", "<A>[None, <J>]",
            "<A>[<B>, None]", "<A>[<J>, ..., 0]", "np.moveaxis(<A>, <X>, 0)", "np.rollaxis(<A>, 1)",
            "np.atleast_3d(<A>)", "np.triu(<A>, 1)", "<A>.flat[<K>]", "<A>.flat[<J>]", "<A>.flat[<B>.ravel()]",
            "<A>.flat.copy()", "np.ravel(<A>, 'F')", "<A>.reshape((<A>.shape[-1], -1), order='F')",
            "np.lib.stride_tricks.sliding_window_view(<V>, 2)", "np.concatenate([<A>, <A>], axis=<X>)",
            "np.full_like(<A>, <S>, shape=(2, 2))", "np.indices((2, <N>))", "np.apply_along_axis(np.sum, 0, <A>)",
            "np.piecewise(<V>, [<V> > 1], [<S>, 0])", "np.unstack(<A>)[0]")
DRAWN = ("np.random.default_rng(<I> & 7).normal(<A>, 1.0)", "np.random.default_rng(3).integers(0, 9, <N>)",
         "np.random.default_rng(3).integers(<J> + 1)", "np.random.default_rng(4).random((<N>, 2))",
         "np.random.default_rng(5).permutation(<A>)", "np.random.default_rng(6).choice(<V>, 2)",
         "np.random.default_rng(6).choice(<V>, 2, replace=False)", "np.random.default_rng(7).poisson(abs(<V>))",
         "np.random.default_rng(8).uniform(<V>, 9)", "np.random.default_rng(9).permuted(<A>, axis=<X>)",
         "np.random.default_rng(9).integers(0, 200, <N>, dtype=np.uint8)",
         "np.random.default_rng(2).binomial(<J>, 0.5)", "np.random.default_rng(1).multinomial(5, [0.25, 0.25, 0.5])",
         "np.random.default_rng(<I> & 3).standard_normal()")
CHANGES = ("np.add(<A>, <A>, out=<O>)", "np.multiply(<A>, <S>, out=<O>, where=<B>)", "np.subtract(<O>, <A>, <O>)",
           "np.sqrt(<A>, out=<O>, where=<B>)", "np.sum(<A>, axis=<X>, out=<O>)", "np.cumsum(<A>, axis=<X>, out=<O>)",
           "np.clip(<A>, 0, 2, out=<O>)", "np.maximum(<O>, <A>, out=<O>)", "np.dot(<A>, <A>, out=<O>)",
           "np.matmul(<A>, <A>, out=<O>)", "np.mean(<A>, axis=<X>, out=<O>)",
           "np.take(<A>, <J>, out=<O>, mode='clip')", "np.concatenate((<V>, <V>), out=<O>)", "np.copyto(<O>, <A>)",
           "np.copyto(<O>, <A>, where=<B>)", "np.put(<O>, <J>, <V>)", "np.putmask(<O>, <B>, <A>)",
           "np.place(<O>, <B>, <V>)", "np.fill_diagonal(<O>, <S>)", "<O>.fill(<S>)", "<O>.sort()",
           "<O>.sort(axis=<X>)", "<O>.flat = <A>", "<O>.flat[<K>] = <A>", "<O>.flat[<J>] = <V>",
           "<O>.flat[::2] += <S>", "<O>.flat[<I>] = <S>", "np.add.at(<O>, <J>, <S>)",
           "np.put_along_axis(<O>, <J>, <S>, 0)", "np.max(<A>, axis=<X>, out=<O>)",
           "<O>[np.ix_(<J>, <J>)] = <S>", "<O>[None, <K>] = <A>", "<O>[<J>[:, None], <J>] += <S>", "<O>[<B>] *= <S>",
           "<O>[<J>, 1:] = <A>", "<O>[..., None] = <S>", "<O>[<O> > <S>] = <S>", "<O>[<K>], <O>[0] = <S>, <S>")
NUMBERS = ("(<S> + <S>)", "(<S> - <S>)", "(<S> * <S>)", "(<S> / <S>)", "(<S> // <S>)", "(<S> % <S>)", "(-<S>)",
           "abs(<S>)", "(<S> < <S>)", "(<S> == <S>)", "min(<I>, <I>)", "max(len(<A>), <I>)", "int(<S>)", "float(<S>)",
           "np.sqrt(<S>)", "round(<S>)", "(<I> & <I>)", "np.floor(<S>)", "<D>(<I> & 7)", "np.maximum(<S>, <S>)",
           "math.floor(<S>)")
ASKED = ("<A>.size", "len(<A>)", "<A>.shape[0]", "<A>.shape[-1]", "<A>.ndim", "<A>[<I>]", "<A>[<I>, <I>]", "<V>[<I>]",
         "<V>[-1]", "<A>.flat[<I>]", "<A>.item(0)", "len(<L>)", "<L>[<I>]", "sum(<L>)", "max(<L>)", "<L>[-1]",
         "<L>.index(<S>)", "<L>.count(<S>)", "(<S> in <L>)", "sum((<S>, <S>, <S>))", "<A>.itemsize", "<A>.nbytes")
LISTS = ("[<S>]", "[<S>, <S>]", "[<S> for i in range(<N>)]", "[x + 1 for x in <L>]", "sorted(<L>)", "<L>[1:]",
         "<L>[::-1]", "<L>.copy()", "list(<L>)", "[x for x in <V>]", "<V>.tolist()", "(<L> + <L>)", "(<L> * 2)",
         "[x for x in <L> if x > <S>]", "list(range(<N>))", "[i * i for i in range(<N>)]", "[0] * <N>", "[<A>, <A>]",
         "[(i, <S>) for i in range(<N>)]", "[[<S>], [<S>]]")
RECORDS = ("<R><F>", "<R><F>", "<R>[<K>]", "<R>.copy()", "<R>[<J>]", "<R>[<R>['a'] > <S>]", "np.zeros(<N>, RECORD)",
           "np.zeros((<N>, 2), RECORD)", "np.zeros_like(<R>)", "np.concatenate((<R>, <R>))", "<R>[::-1]", "<R>.T",
           "<R>['c'][..., 0]", "<R>.reshape(-1)", "<R>['a'].sum()", "<R>['b'].max()", "(<R>['b'] + <R>['a'])",
           "<R>[<I>]<F>", "<R>[<K>]<F>[<I>]", "<R><F>[<J>]", "np.append(<R>, <R>)", "np.repeat(<R>, 2)",
           "np.where(<R>['d'], <R>['a'], <S>)", "np.empty_like(<R>[:0])", "<R>.size", "<R>.flatten()",
           "np.argsort(<R>['a'], kind='stable')", "<R>[np.argsort(<R>['b'], kind='stable')]", "np.roll(<R>, 1)",
           "np.stack((<R>, <R>))", "<R>[<B>]", "np.full(<N>, <R>[0])")
TIMES = ("(<T> - <T>)", "(<T> + <T>)", "(<T> + <U>)", "(<U> - <T>)", "(<T> < <T>)", "(<T> == <U>)", "(<T> >= <U>)",
         "np.isnat(<T>)", "<T>.astype('M8[D]')", "<T>.astype('M8[s]')", "<T>.astype(np.int64)", "(<T> / <U>)",
         "(<T> // <U>)", "(<T> % <U>)", "(<T> * 2)", "(<T> // 3)", "(-<T>)", "abs(<T>)", "np.diff(<T>)", "np.sort(<T>)",
         "<T>.max()", "<T>.min()", "<T>.sum()", "np.maximum(<T>, <T>)", "np.where(<T> > <U>, <T>, <T>)", "<T>[<K>]",
         "<T>[<I>]", "<T>[<J>]", "<T>[<T> > <U>]", "np.arange(<U>, <U>)", "np.concatenate((<T>, <T>))", "<T>.copy()",
         "np.unique(<T>)", "np.full(<N>, <U>)", "np.zeros(<N>, 'M8[D]')", "<T>.mean()", "(<T> * 0.5)", "np.sign(<T>)",
         "np.searchsorted(np.sort(<T>), <U>)", "np.argmin(<T>)", "np.minimum(<T>, <U>)", "(<T> != <T>)",
         "np.median(<T>)", "np.cumsum(<T>)", "(<U> - <U>)", "(<U> < <U>)", "(<U> + <U>)", "<T>.astype('m8[h]')",
         "np.append(<T>, <U>)", "np.isin(<T>, <T>)", "<T>.view(np.int64)", "np.array([<U>, <U>])", "np.fmax(<T>, <T>)",
         "np.clip(<T>, <U>, <U>)", "<T>.tolist()", "np.ptp(<T>)", "np.allclose(<T>, <T>)")
ARRAYS = ((CREATION, 20), (ELEMENTWISE, 36), (VIEWS, 16), (INDEXED, 6), (REDUCED, 10), (JOINED, 8), (KEYWORDS, 8),
          (SORTED, 8), (PRODUCTS, 6), (LAID_OUT, 10), (DRAWN, 3))
SCALARS = ((NUMBERS, 30), (ASKED, 25), (REDUCED, 25), (KEYWORDS, 5), (SORTED, 5), (PRODUCTS, 5), (DRAWN, 1))
AUGMENTED = ("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=")
ERRORS = ("ValueError", "IndexError", "ZeroDivisionError", "TypeError", "OverflowError", "Exception",
          "(ValueError, IndexError)")
INDICES = ("<J>, <I>", "<K>, <J>", "<I>, <J>", "<J>, <J>", "1:, ::-1", "<I>", "<K>",
           "<K>", "...", "<I>, <I>", ":, <I>", "<I>, <K>", "<B>", "<J>", "::-1", "::2", "1:", ":-1")


def type_of(value):
    """What a variable must keep, or None if programs do not compute with such."""
    if isinstance(value, np.ndarray):
        known = value.dtype.type in ITEMS or value.dtype in DATES or value.dtype == RECORD
        fits = known and value.ndim <= 3 and value.size <= LARGEST
        return (value.dtype, value.ndim) if fits else None
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return value.dtype if value.dtype in DATES else None
    if isinstance(value, (list, tuple)):
        items = [type_of(item) for item in value]
        if not items or None in items or (type(value) is list and len(set(items)) > 1):
            return None
        return type(value), items[0] if type(value) is list else tuple(items)
    return type(value) if type(value) in (bool, int, float, *ITEMS) else None


def has_items(value):
    if isinstance(value, np.ndarray):
        return value.shape[:1] > (0,)
    return isinstance(value, list) and len(value) > 0


def is_array(value):
    return isinstance(value, np.ndarray)


def is_time(value):
    return isinstance(value, (np.datetime64, np.timedelta64))


def twin(value):
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(map(twin, value)) if isinstance(value, (list, tuple)) else value


class Writer(Sampled):
    """Writes the body of one function of arrays."""

    type_of, twin = staticmethod(type_of), staticmethod(twin)

    # ---- expressions ----

    def slot(self, letter, depth):
        chance = self.chance
        if letter in "RFTU":
            return self.special(letter)
        if letter == "O":
            return self.variable(is_array) or "np.zeros(3)"
        if letter == "A":
            name = self.variable(is_array)
            if depth <= 0 or (name and chance.random() < 0.6):
                return name or "np.arange(4.0)"
            return self.array(depth - 1)
        if letter == "V":
            return self.variable(lambda value: is_array(value) and value.ndim == 1) or "np.arange(3)"
        if letter == "B":
            name = self.variable(lambda value: is_array(value) and value.dtype == bool)
            return name if name and chance.random() < 0.5 else f"({self.slot('A', 0)} > {self.slot('S', 0)})"
        if letter == "J":
            name = self.variable(lambda value: is_array(value) and value.dtype.kind in "iu" and value.ndim == 1)
            return f"({name} % 3)" if name and chance.random() < 0.7 else "np.array([0, 2, 1])"
        if letter == "S":
            return self.number(depth - 1)
        if letter == "I":
            name = self.variable(lambda value: type(value) is int)
            return chance.choice(["0", "1", "-1", "2", name or "0", f"{name or 1} % 3"])
        if letter == "N":
            name, array = self.variable(lambda value: type(value) is int), self.variable(is_array)
            return chance.choice(["0", "1", "2", "3", "4", f"({name or 3} & 3)", f"len({array})" if array else "3"])
        if letter == "L":
            return self.variable(lambda value: type(value) is list) or "[1, 2, 3]"
        if letter == "K":
            ends = ["", "", "1", "-1", "2", "-2"]
            one = f"{chance.choice(ends)}:{chance.choice(ends)}{chance.choice(['', '', ':2', ':-1', ':-2'])}"
            return chance.choice([one, one, f"{one}, {chance.choice(['::-1', '1:', ':2', ':'])}"])
        return chance.choice(["0", "1", "-1"]) if letter == "X" else kinds.name_of(chance.choice(ITEMS))

    def special(self, letter):
        """A record array, a field, an array of times, a time."""
        if letter == "R":
            return self.variable(lambda value: is_array(value) and value.dtype == RECORD) or "np.zeros(3, RECORD)"
        if letter == "F":
            return f"['{self.chance.choice(RECORD.names)}']"
        if letter == "T":
            return self.variable(lambda value: is_array(value) and value.dtype.kind in "mM") or "np.zeros(3, 'M8[D]')"
        name = self.variable(is_time) if self.chance.random() < 0.5 else None
        return name or self.chance.choice(["np.timedelta64(2, 'D')", "np.timedelta64(-30, 'h')",
                                           "np.datetime64('1970-01-03')", "np.timedelta64(7, 's')",
                                           "np.datetime64('NaT')", "np.datetime64('1970-01-02T05')"])

    def has_special(self):
        """The groups of templates that some variable in scope is for."""
        records = self.variable(lambda value: is_array(value) and value.dtype == RECORD)
        times = self.variable(lambda value: is_time(value) or (is_array(value) and value.dtype.kind in "mM"))
        return ((RECORDS, 40),) * bool(records) + ((TIMES, 40),) * bool(times)

    def array(self, depth=2):
        return self.expression((*ARRAYS, *self.has_special()), is_array, depth) or "np.arange(4.0)"

    def number(self, depth=2):
        def is_number(value):
            return not isinstance(value, (np.ndarray, list, tuple))

        if depth <= 0 or self.chance.random() < 0.3:
            name = self.variable(is_number) if self.chance.random() < 0.7 else None
            return name or self.chance.choice(["0", "1", "2", "3", "0.5", "2.0", "-1.5", "0.0"])
        return self.expression((*SCALARS, *self.has_special()), is_number, depth) or "2"

    def any(self):
        roll = self.chance.random()
        if roll < 0.12:
            return self.expression([(LISTS, 1)], lambda value: type(value) is list, 1) or "[1, 2]"
        return self.array() if roll < 0.75 else self.number()

    def like(self, sample):
        name = self.variable(lambda value: type_of(value) == type_of(sample))
        if name:
            return name
        if isinstance(sample, np.ndarray):
            return f"np.zeros({(2,) * sample.ndim}, {text_of(sample.dtype)})"
        if is_time(sample):
            return f"{type(sample).__name__}(1, '{np.datetime_data(sample.dtype)[0]}')".replace("t", "np.t", 1)
        return repr(sample) if type(sample) in (bool, int, float) else f"{kinds.name_of(type(sample))}(1)"

    def condition(self):
        return self.chance.choice([f"{self.number(1)} {self.chance.choice(['<', '>', '==', '!='])} {self.number(1)}",
                                   self.filled("np.any(<A> > <S>)", 0), self.filled("<A>.size > <N>", 0)])

    # ---- statements ----

    KINDS = (("assign", 34), ("store", 14), ("update", 12), ("branch", 8), ("count", 8), ("walk", 6), ("wait", 2),
             ("grow", 5), ("attempt", 5), ("check", 3), ("unpack", 2), ("leave", 2), ("change", 9))

    def put_change(self):
        """What an array that is there is given to be changed by."""
        text = self.filled(self.chance.choice(CHANGES), 0)
        running = re.fullmatch(r"(np\.cumsum\(.*), out=(.*)\)", text)
        # NumPy may write beside an array of another shape.
        if not running or np.shape(self.run(running[1] + ")")) == np.shape(self.run(running[2])):
            self.put_if_it_runs(text)

    def put_unpack(self):
        one, other = self.number(), self.array()
        names = [self.bind(one), self.bind(other)]
        if None not in names and names[0] != names[1]:
            self.put(f"{names[0]}, {names[1]} = {one}, {other}")

    def put_store(self):
        name = self.variable(is_array)
        if name and self.samples[name].dtype == RECORD and self.chance.random() < 0.8:
            self.put_record(name)
        elif name:
            text = f"{name}[{self.filled(self.chance.choice(INDICES), 0)}]"
            operator = self.chance.choice(["=", "=", self.chance.choice(AUGMENTED)])
            self.put_if_it_runs(f"{text} {operator} {self.chance.choice([self.number(1), self.array(1)])}")

    def put_record(self, name):
        """A field of some records, or whole records."""
        index = self.filled(self.chance.choice(INDICES), 0)
        field = self.filled("<F>", 0)
        text = self.chance.choice([f"{name}[{index}]{field}", f"{name}{field}[{index}]", f"{name}{field}",
                                   f"{name}[{index}]"])
        stored = [self.number(1), self.array(1), self.filled("<R>", 0), self.filled("<R>[<I>]", 0),
                  "np.zeros((), RECORD)[()]"]
        operator = self.chance.choice(["=", "=", self.chance.choice(AUGMENTED)])
        self.put_if_it_runs(f"{text} {operator} {self.chance.choice(stored)}")

    def put_update(self):
        name = self.variable(lambda value: not isinstance(value, (list, tuple)))
        if not name or name in self.frozen:
            return
        text = f"{name} {self.chance.choice(AUGMENTED)} {self.chance.choice([self.number(1), self.array(1)])}"
        after = self.run(text, exec)
        if after and type_of(after[name]) == type_of(self.samples[name]):
            self.put(text)

    def put_walk(self):
        walked = self.variable(has_items)
        if not walked or self.loops > 1 or walked in self.frozen:
            return
        name, item = f"x{next(self.counter)}", twin(self.samples[walked][0])
        if not type_of(item):
            return
        self.frozen.add(walked)
        if self.chance.random() < 0.3:
            place = f"i{next(self.counter)}"
            self.loop(f"for {place}, {name} in enumerate({walked}):", {place: 1, name: item})
        else:
            self.loop(f"for {name} in {walked}:", {name: item})
        self.frozen.discard(walked)

    def put_grow(self):
        name = self.variable(lambda value: type(value) is list)
        if not name or name in self.frozen:
            return
        item = self.like(self.samples[name][0])
        self.put_if_it_runs(self.chance.choice([f"{name}.append({item})", f"{name}[0] = {item}", f"{name}.pop()",
                                                f"{name}.insert(1, {item})", f"{name}.extend({name})",
                                                f"{name}.sort()", f"{name}.reverse()", f"{name} += [{item}]"]))

    def put_attempt(self):
        with self.block("try:"):
            self.statements(self.chance.choice([1, 2, 3]))
            if self.chance.random() < 0.4:
                self.put_check()
        if self.chance.random() < 0.8:
            with self.block(f"except {self.chance.choice(ERRORS)}{self.chance.choice(['', '', ' as error'])}:"):
                self.statements(1)
        else:
            with self.block("finally:"):
                self.statements(1)

    def put_check(self):
        raised = ["ValueError('no')", "IndexError", "ZeroDivisionError", f"ValueError({self.number(0)})"]
        error = self.chance.choice(raised)
        self.put(f"if {self.condition()}:")
        self.put(f"    raise {error}")


# ---- programs ----


def text_of(dtype):
    """The text of a dtype in programs."""
    return "RECORD" if dtype == RECORD else f"'{dtype.str[1:]}'" if dtype.kind in "mM" else kinds.name_of(dtype.type)


def parameter(chance):
    """A number's type, or an array's: its item and its shape, lengths by name."""
    if chance.random() < 0.3:
        return chance.choice([int, int, float, float, bool, *ITEMS, chance.choice(DATES)])
    shape = chance.choice([("n",), ("n",), ("m",), ("n", "m"), ("n", "m"), ("m", "n"), ("n", "n"), (), ("n", "m", 2)])
    return chance.choice([*ITEMS, chance.choice(DATES), RECORD]), shape


def item(chance, kind):
    """Small numbers, whose sums are exact; seldom others."""
    if isinstance(kind, np.dtype) and kind.names:
        return tuple(item(chance, kind[name]) for name in kind.names)
    if isinstance(kind, np.dtype) and kind.kind in "mM":
        unit = np.datetime_data(kind)[0]
        return kind.type("NaT" if chance.random() < 0.05 else chance.randint(-50, 90), unit)
    if isinstance(kind, np.dtype):
        numbers = [item(chance, kind.base.type) for _ in range(int(np.prod(kind.shape)))]
        return numbers if kind.shape else numbers[0]
    if chance.random() < 0.04 or np.dtype(kind).kind == "b":
        return kinds.number(chance, kind)
    if kinds.is_floating(kind) or kind in kinds.COMPLEXES:
        return kind(chance.randint(-8, 12) / 4)
    return kind(chance.randint(0 if np.dtype(kind).kind == "u" else -5, 9))


def value(chance, kind, lengths):
    if not isinstance(kind, tuple):
        return item(chance, kind)
    shape = tuple(lengths.get(length, length) for length in kind[1])
    if chance.random() < 0.05:
        shape = tuple(chance.choice([0, 1, 2]) for _ in shape)
    steps = [chance.choice([1, 1, 1, 2, -1]) for _ in shape]
    room = [length * abs(step) for length, step in zip(shape, steps)]
    flat = np.array([item(chance, kind[0]) for _ in range(int(np.prod(room)))], kind[0])
    return flat.reshape(room, order=chance.choice("CCCF"))[(..., *(slice(None, None, step) for step in steps))]


def lengths(chance):
    return {"n": chance.choice([0, 1, 2, 3, 4, 5, 9]), "m": chance.choice([1, 2, 3, 4])}


def write(chance, name, counter, functions, types, statements, most):
    """A function: its lines, and its samples."""
    writer = Writer(chance, counter, functions)
    given = {f"p{next(counter)}": value(chance, kind, {"n": 3, "m": 2}) for kind in types}
    writer.samples = dict(given)
    writer.statements(statements)
    writer.finish(most)
    return [f"def {name}({', '.join(given)}):", *writer.lines], list(given.values())


def drawn_calls(chance, types):
    return [tuple(value(chance, kind, drawn) for kind in types)
            for drawn in ({"n": 3, "m": 2}, *(lengths(chance) for _ in range(CALLS - 1)))]


def generate(seed):
    return program(seed, write, parameter, [0, 1, 1, 2, 3, 5], drawn_calls)


# ---- running ----


def comparable(result, given):
    """Lists compared item by item, types included; arrays that the call made without how their memory is ordered."""
    if isinstance(result, (list, tuple)):
        return (type(result).__name__, *(comparable(item, given) for item in result))
    if isinstance(result, np.ndarray) and not any(np.may_share_memory(result, array) for array in given):
        return np.array(result, order="C")
    return result


def check(program):
    compiled, _ = load(compiled_form(program.source), {})
    interpreted, _ = load(interpreted_forms(program.source)[0], HELPERS)
    compiled, verdict = njit(compiled), ("same", "")
    for number, call in enumerate(program.calls):
        theirs_in, ours_in = oracle.copy_argument(call), oracle.copy_argument(call)
        theirs = documented = None
        try:
            theirs = to_the_end(lambda: oracle.outcome(interpreted, theirs_in, {}))
        except Differs as difference_known:
            documented = difference_known
            verdict = ("differs as documented", str(documented)) if number == 0 else verdict
        if isinstance(documented, TooMuch):
            continue
        objects = _testing.heap_objects()
        ours = oracle.outcome(compiled, ours_in, {})
        if isinstance(ours, oracle.Raised) and isinstance(ours.error, errors.KraitError):
            return refusal(ours.error)
        if documented or overflows_dates(theirs):
            continue
        fault = difference(*(comparable(result, [one for one in call_in if isinstance(one, np.ndarray)])
                             for result, call_in in ((ours, ours_in), (theirs, theirs_in))), ours_in, theirs_in)
        del ours
        if not fault and _testing.heap_objects() > objects:
            fault = "an object of the heap was never released"
        if fault:
            return "wrong", f"call {number}: {fault}"
    return verdict


MISFITS = ("broadcast", "wrong number of dimensions", "is not enabled", "is not a valid axis", "the wrong size")


def is_misfit(outcome):
    """Of shapes, most often that of an out=, for which NumPy has other words in each of its functions."""
    raised = isinstance(outcome, oracle.Raised) and outcome.kind is ValueError
    return raised and any(words in str(outcome.error) for words in MISFITS)


def difference(ours, theirs, ours_in, theirs_in):
    try:
        if not (is_misfit(ours) and is_misfit(theirs)):
            oracle.compare_outcomes(ours, theirs)
        for i, (our, their) in enumerate(zip(ours_in, theirs_in)):
            oracle.assert_same(our, their, f"argument {i} after the call")
        shared = oracle.shared_with(ours, ours_in) == oracle.shared_with(theirs, theirs_in)
        assert shared, "another argument's memory was returned"
    except AssertionError as error:
        return str(error)
    return None
