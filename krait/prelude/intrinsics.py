"""What the prelude asks of the compiler: rows of src/library/numpy.def.  The interpreter never calls these."""


def packed(array, shape, missing, order):
    """A view on elements that lie together, with another shape; `missing` takes the place of what is negative."""


def strided(array, offset, shape, strides):
    """A view that starts some bytes further, with these strides in bytes."""


def reinterpreted(array, dtype, last):
    """A view on the bytes as elements of another type, so many along the last axis."""


def frozen(array):
    """A view that cannot be written to."""


def data_address(array):
    """Where the first element lies: a number."""


def layout_of(array):
    """ "C", "F" or "A" (any strides), as the type tells."""


def folded(kind, array, dtype):
    """One number of all elements, each converted to a real dtype, in C order: "sum" (floats as NumPy adds what lies
    together), "prod", "min", "max", "any", "all".  Where the array is an expression it is never made."""


def chunk_spreads():
    """Whether a loop in the chunk of a parallel loop that runs has threads of its own."""


def core_spreads():
    """In a kernel that calls one function for each place: whether the threads along axis x share the work of a call."""


def with_item(ints, index, value):
    """A tuple of ints with another item at a place that is known when it runs."""


def without_axis(array, axis):
    """A view without an axis of length one."""


def axes_of(axes, ndim):
    """The axes that None (all), an int or a tuple of ints means, as a tuple of ints from 0 on."""


def other_axes(axes, ndim):
    """The axes that are not in a tuple of them."""


def counted(start, stop):
    """(start, start + 1, ..., stop - 1)"""


def einsum_plan(subscripts, arrays):
    """For each array a tuple of the number of each axis's label; the output's labels, 0, 1, ...; those summed over."""


def python_number(x):
    """A NumPy scalar as the Python number that item() gives."""


def shape_text(shape, after=None):
    """A shape as NumPy writes it in messages: (2,3); with an extent to be found before those after: (2,newaxis,3),
    which is not written if it is the first.
    """


def select(condition, x, y):
    """x where the condition is true, else y: a ufunc of numbers."""


def copied(array, values, casting, mask):
    """array[...] = values where the mask is true, or everywhere if it is None; the mask fits."""


def lists_of(table):
    """The entries and the hash table of a dict or a set: lists."""


def empty_like(table):
    """A dict or a set of the same types without items."""


def key_hash(key):
    """The hash of a key, not negative."""


def codes(s):
    """The code points of a string, a list of uint32."""


def string_of(items):
    """The string of code points in a list that nobody changes any more."""


def bytes_of(items):
    """The bytes object of a list of uint8 that nobody changes any more."""


def tuple_of(items):
    """The tuple of the items in a list that nobody changes any more."""


def is_constant(x):
    """Whether a value is known when the code is compiled."""


def is_writeable(array):
    """Whether an array may be written to, as the type tells."""


def how_ordered(items):
    """Whether `<` puts the items of a list into one order, as their type tells: "always" (a class is believed),
    "but for nan" (NaT, too), "never" (sets)."""


def python_order(keys, reverse):
    """The numbers of a list's items in the order in which the interpreter sorts them."""


def character(code):
    """The string of one code point."""


def reserve(items, length):
    """Makes room for so many items of a list, in all; MemoryError where there is none."""


def lies_at(x, y, at):
    """Whether the numbers y, of the same kind as x, lie in x from an index on, which may be outside."""


def order_of(x, y):
    """Negative where the numbers x are less than y, of the same kind, 0 where they are the same, else positive."""


def append_codes(numbers, more):
    """Puts all numbers of a list, those of a string or a bytes, at the end of a list of numbers of the same kind."""


def character_traits(code, asked):
    """Which of the traits that are asked for a code point has: sets of the bits that str.isalpha and its like ask."""


def upper(s):
    """str.upper of any text, by the interpreter."""


def lower(s):
    """str.lower of any text, by the interpreter."""


def truncate(items, length):
    """Gives up what lies behind so many items of a list."""


def slice_range(which, length):
    """Start, step and number of what a slice takes of so many items."""


def sort_line(way, line):
    """Sorts an array of one axis whose items lie together by NumPy's function: "quick", "heap" or "stable"."""


def argsort_line(way, line, places):
    """Puts places, which stand in order, into the order of the items there, likewise."""


def numpy_order(line, kind, order):
    """The places of texts of fixed length, or of records, in their order, by NumPy's argsort."""


def interpreted(body, types, *values):
    """What a Python function gives of these values, as values of these types: the interpreter calls it."""


def numpy_loop(name, sizes, steps, inputs, *arrays):
    """Calls an inner loop of a ufunc of NumPy, bound by _krait.bind_numpy_loops: sizes of the outer loop and the core
    dimensions; steps in bytes, the outer one of each operand first; how many arrays, the first ones, it only reads.
    Whether the loop found something invalid."""


def days_to_month(months):
    """Days from 1970-01-01 to the first of a month, counted from January of year 0."""


def month_of_day(day):
    """Its reverse: the month in which a day lies."""


def new_keywords(**values):
    """Keyword arguments: a tuple of the values, whose type has the names."""


def close_generator(generator):
    """GeneratorExit is raised where it waits; whether it has yielded another item."""


def send_generator(generator, value):
    """Its `yield` gives that value when it goes on; whether it has run before."""


def keyword_names(keywords):
    """The names of keyword arguments, a tuple of constants."""


def keyword_values(keywords):
    """Their values, a tuple."""


def keyword_items(keywords):
    """Pairs of name and value, a tuple."""


def keyword_item(keywords, name):
    """The value of one name; KeyError where there is none."""


def has_keyword(keywords, name):
    """Whether there is a value of that name."""


def without_keyword(keywords, name):
    """The keyword arguments but one."""


def with_keyword(keywords, name, value):
    """The keyword arguments, with another value of one name."""


def fields_of(instance, function):
    """The fields of a dataclass's instance by name, for that function of the module dataclasses: replace gets those
    that its __init__ takes, asdict and astuple all, of which none may be one that somebody else changes."""


def joined_keywords(first, second):
    """Those of both; of a name in both, the second's value."""


def keyword_pop(keywords, name, *default):
    """What is taken out of keyword arguments, KeyError where there is neither it nor a default."""


def keyword_default(keywords, name, default=None):
    """The value of one name, or what is put in."""


def has_order(x, y):
    """Whether `<` and its like may have an answer: not for None, nor for instances without the methods."""


def may_be_one(x, y):
    """Whether both may be one instance: of one class."""


def view_as_set(operand, table, keys):
    """An operand of an operator beside or from table.keys() or table.items(), of a dict: the set of it; else itself."""
