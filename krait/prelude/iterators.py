"""Builtins that give items one after the other, as generators where these are not walked at once: map, filter, zip,
enumerate, reversed, iter; next and iteration of instances of a user's class."""


def mapped(function, items, *more):
    new = []
    if len(more) == 0:
        for item in items:
            new.append(function(item))
    else:
        for arguments in zip(items, *more):
            new.append(function(*arguments))
    return new


def each_mapped(function, items, *more):
    if len(more) == 0:
        for item in items:
            yield function(item)
    else:
        for arguments in zip(items, *more):
            yield function(*arguments)


def filtered(function, items):
    new = []
    for item in items:
        if function is None:
            if item:
                new.append(item)
        elif function(item):
            new.append(item)
    return new


def each_filtered(function, items):
    for item in items:
        if function is None:
            if item:
                yield item
        elif function(item):
            yield item


def each_of(iterable):
    for item in iterable:
        yield item


def each_until(function, sentinel):
    """What a function gives, until that equals a value."""
    while True:
        item = function()
        if item == sentinel:
            break
        yield item


def each_zipped(*iterables):
    for items in zip(*iterables):
        yield items


def each_numbered(iterable, start=0):
    number = start
    for item in iterable:
        yield number, item
        number += 1


def each_backwards(items):
    for item in reversed(items):
        yield item


def next_of(iterator):
    """next(x) of an instance of a user's class."""
    return iterator.__next__()


def next_of_or(iterator, default):
    try:
        return iterator.__next__()
    except StopIteration:
        return default


def each_next(iterator):
    """What __next__ of a user's class gives, until that raises StopIteration."""
    going = True
    while going:
        try:
            item = iterator.__next__()
        except StopIteration:
            going = False
        if going:
            yield item


def each_indexed(items):
    """The items of a user's class that has indices alone, until IndexError."""
    i = 0
    going = True
    while going:
        try:
            item = items[i]
        except IndexError:
            going = False
        if going:
            yield item
        i += 1
