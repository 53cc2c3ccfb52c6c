"""What programs of texts, lists, tuples, dicts and sets are made of: the tables of Python's library reference.

Slots: <T> text, <C> short text, <I> int, <N> small length, <F> float, <S> number, <B> truth, <K> slice, <V> variable
that can be printed, <M> list of texts, <L> list, <J> list of ints, <Z> what has a length, <O> list, tuple, dict or
set, <U> tuple, <D> dict, <E> set, <Q> specification of a format.  In what is said of a variable, @ is its name, $i an
item or a value like its own, $k a key like its own, $s a value like itself.
"""

TEXTS = ("(<T> + <T>)", "(<T> + <C>)", "(<T> * <N>)", "<T>[<I>]", "<T>[<K>]", "<T>[<K>]", "<T>[::-1]", "str(<V>)",
         "repr(<V>)", "f'{<V>}'", "f'{<V>!r}'", "f'<C>{<V>}, {<V>}'", "f'{<V>:<Q>}'", "f'{<V>:<Q>}{<V>:<Q>}'",
         "f'{<I>:>{<N>}}'", "'%s' % (<V>,)", "'%d %s' % (<I>, <V>)", "'%5.2f|%g' % (<F>, <F>)",
         "'{} {}'.format(<V>, <V>)",
         "'{1}{0}'.format(<V>, <V>)", "'{:<Q>}'.format(<V>)", "format(<V>, '<Q>')", "chr(<N> + 65)",
         "chr(<N> * 300 + 9)",
         "hex(<I>)", "bin(<I>)", "oct(<I>)", "ascii(<T>)", "<C>.join(<M>)", "<C>.join([str(<I>), <T>])", "<M>[<I>]",
         "<T>.partition(<C>)[<I>]", "<T>.rpartition(<C>)[2]", "<T>.replace(<C>, <C>)", "<T>.replace(<C>, <C>, <I>)",
         "<T>.removeprefix(<C>)", "<T>.removesuffix(<C>)", "<T>.strip(<C>)", "<T>.lstrip(<C>)", "<T>.rstrip(<C>)",
         "<T>.center(<N>)", "<T>.center(<N>, '*')", "<T>.ljust(<N>)", "<T>.rjust(<N>, '0')", "<T>.zfill(<N>)",
         "<T>.expandtabs(<N>)", "(<T> if <B> else <T>)", "(<T> or <C>)", "(<T> and <C>)", "min(<T>, <T>)", "max(<M>)",
         "max(<T>)", "sorted(<T>)[0]", "''.join(sorted(<T>))", "''.join(reversed(<T>))", "<T>.split(<C>)[-1]", *(
             f"<T>.{name}()" for name in ("upper", "lower", "title", "capitalize", "swapcase", "casefold", "strip",
                                          "lstrip", "rstrip", "expandtabs")))
TRUTHS = ("(<C> in <T>)", "(<C> not in <T>)", "(<T> == <T>)", "(<T> != <C>)", "(<T> < <T>)", "(<T> >= <C>)",
          "<T>.startswith(<C>)", "<T>.endswith((<C>, <C>))", "<T>.startswith(<C>, <I>)", "bool(<T>)", "(not <T>)",
          "(<I> < <I>)", "(<F> <= <S>)", "(<S> == <S>)", "(<I> < <I> <= <I>)", "(<B> and <B>)", "(<B> or <B>)",
          "(not <B>)", "(<J> < <J>)", "bool(<O>)", "(not <O>)",
          "(<M> != <T>.split())", "any(<J>)", "all(<J>)", "isinstance(<V>, int)",
          "isinstance(<V>, (str, float))", "isinstance(<O>, list)", "(<V> is None)", "(type(<V>) is int)", *(
              f"<T>.is{name}()" for name in ("alnum", "alpha", "ascii", "decimal", "digit", "identifier", "lower",
                                             "numeric", "printable", "space", "title", "upper")))
INTS = ("(<I> + <I>)", "(<I> - <I>)", "(<I> * <I>)", "(<I> // <I>)", "(<I> % <I>)", "(<I> & <I>)", "(-<I>)",
        "abs(<I>)",
        "min(<I>, <I>)", "max(<I>, <N>, <I>)", "(<I> if <B> else <I>)", "int(<F>)", "round(<F>)", "int(<B>)",
        "len(<Z>)", "len(<T>)", "<T>.find(<C>)", "<T>.rfind(<C>)", "<T>.find(<C>, <I>)", "<T>.count(<C>)",
        "<T>.index(<C>)", "<T>.rindex(<C>)", "ord(<T>[<I>])", "int(str(<I>))", "int(hex(<I>), 16)", "int('12')",
        "int(<T>)", "int('0b101', 0)", "sum(<J>)", "sum(<J>, <I>)", "max(<J>)", "min(<J>)", "<J>[<I>]",
        "(<N> ** 2)", "(<I> << <N>)", "(<I> >> 1)", "divmod(<I>, <I>)[1]", "(<I>).bit_length()",
        "len(range(<I>, <I>, 2))",
        "len(<T>.split())", "hash(<I>)", "math.prod(<J>)", "functools.reduce(lambda x, y: x - y, <J>, <I>)",
        "bisect.bisect(sorted(<J>), <I>)", "bisect.bisect_left(sorted(<M>), <T>)", "collections.Counter(<T>)[<C>]",
        "operator.itemgetter(0)(<J>)", "len(collections.deque(<J>, <N>))", "sum(1 for _ in itertools.chain(<M>, <T>))")
FLOATS = ("(<F> + <F>)", "(<F> - <S>)", "(<F> * <F>)", "(<I> / <I>)", "(<F> // <F>)", "(<F> % <F>)", "(-<F>)",
          "float(<I>)",
          "float('2.5')", "float('-inf')", "float(<T>)", "round(<F>, 1)", "min(<F>, <F>)", "math.sqrt(abs(<F>))",
          "(<F> if <B> else <F>)", "float(str(<F>))", "sum([<F>, <F>])", "math.floor(<F>) * 1.0")
LISTS = ("[<S>]", "[<I>, <I>, <I>]", "[<T>, <T>]", "[<F>, <F>]", "(<L> * <N>)", "<L>[<K>]", "<L>[::-1]",
         "<L>.copy()", "list(<L>)", "list(<T>)", "list(range(<N>))", "list(range(<I>, <I>, 2))", "sorted(<L>)",
         "sorted(<L>, reverse=True)", "sorted(<E>)", "sorted(<D>)", "<T>.split()", "<T>.split(<C>)",
         "<T>.rsplit(<C>, 1)",
         "<T>.split(<C>, <N>)", "<T>.splitlines()", "list(<D>)", "list(<D>.values())", "list(<D>.items())",
         "list(zip(<L>, <J>))", "list(enumerate(<L>))", "list(reversed(<L>))", "[<L>, <L>]", "[<U>, <U>]",
         "[*<J>, <I>]",
         "[*<T>]", "[0] * <N>", "[[<I>], [<I>, <I>]]", "[[] for _ in range(<N>)]", "list(map(str, <J>))",
         "list(filter(None, <J>))", "[(<T>, <I>)]", "[{<I>: <T>}]", "list(<U>)", "list(<J>[<K>])",
         "sorted(<M>, key=len)", "[None, None]", "[<B>, <B>]", "sorted([<F>, <F>, <S>, math.nan, <F>])",
         "sorted(<E>, key=lambda x: math.nan)", "heapq.nsmallest(<N>, <J>)", "heapq.nlargest(2, <M>)",
         "list(itertools.accumulate(<J>))", "list(itertools.chain(<M>, <M>))", "list(itertools.islice(<L>, <N>))",
         "list(itertools.product(<J>, <M>))[:9]", "list(itertools.combinations(<J>, 2))[:9]",
         "[key for key, _ in itertools.groupby(<T>)]", "list(itertools.repeat(<S>, <N>))",
         "list(itertools.zip_longest(<J>, <J>, fillvalue=<I>))", "list(itertools.takewhile(lambda x: x > 0, <J>))",
         "list(map(operator.add, <J>, <J>))", "list(collections.deque(<M>, <N>))", "[*map(len, <M>)]",
         "list(itertools.permutations(<J>, 2))[:9]", "list(zip(*[<J>, <J>]))")
TUPLES = ("(<S>, <T>)", "(<I>, <I>)", "(<T>,)", "(<I>, (<F>, <T>))", "(<U> + (<S>,))", "<U>[1:]", "<U>[::-1]",
          "divmod(<I>, <I>)",
          "<T>.partition(<C>)", "(<L>, <I>)", "(*<U>, <S>)", "(<D>, <T>)", "(<U>, <U>)")
DICTS = ("{<T>: <I>}", "{<I>: <T>, <I>: <T>}", "{<I>: <F>}", "dict(zip(<M>, <J>))", "dict(<D>)", "<D>.copy()",
         "{**<D>}",
         "{<T>: <L>}", "{(<I>, <T>): <F>}", "dict([(<I>, <T>)])", "{<B>: <U>}",
         "{<T>: {<I>: <I>}}", "{<F>: <B>, <F>: <B>}")
SETS = ("{<I>, <I>}", "{<T>, <C>}", "set(<J>)", "set(<T>)", "set(<M>)", "<E>.copy()", "set(<D>)",
        "{(<I>, <T>)}", "{<F>, <F>}", "{*<J>, <I>}", "set(range(<N>))")
# what is said of a variable; an order of lists is the first items' that differ, of NumPy's numbers a numpy.bool
RELATED = {
    list: ("@[<I>]", "@[-1]", "@[<K>]", "@.index($i)", "@.count($i)", "($i in @)", "($i not in @)", "(@ + [$i])",
           "len(@)",
           "[$i, *@]", "max(@)", "min(@)", "@.pop()", "@.pop(<I>)", "(@ == [$i])", "bool(@ < [$i])", "sorted(@)",
           "set(@)",
           "str(@)", "f'{@}'", "@[<I>][<I>]", "len(@[0])", "tuple(@) == (@[0],)", "list(zip(@, @[1:]))", "sum(@)",
           "dict(enumerate(@))", "(@ or [$i])", "@[len(@) // 2:]", "@ is @", "(@ == $s)", "(@ + $s)", "($s + @)",
           "(@ if <B> else $s)", "bool(@ < $s)", "[@, $s]", "{*@}"),
    dict: ("@[$k]", "@.get($k, $i)", "@.get($k)", "($k in @)", "($k not in @)", "@.pop($k, $i)", "@.pop($k)",
           "@.popitem()",
           "@.setdefault($k, $i)", "len(@)", "list(@.keys())", "list(@.values())", "list(@.items())", "sorted(@)",
           "(@ | {$k: $i})",
           "{$k: $i, **@}", "(@ == {$k: $i})", "max(@.values())", "sum(@.values())", "str(@)", "f'{@}'", "min(@)",
           "sorted(@.items())", "(@ or {$k: $i})", "{v: k for k, v in @.items()}", "(@ == $s)", "(@ | $s)",
           "{**@, **$s}", "(@ if <B> else $s)", "dict($s)"),
    set: ("($i in @)", "($i not in @)", "(@ | {$i})", "(@ - {$i})", "sorted(@)", "len(@)", "max(@)", "min(@)",
          "@.isdisjoint({$i})",
          "(@ ^ {$i})", "@.union([$i])", "(@ >= {$i})", "{$i, *@}", "(@ or {$i})", "(@ | $s)", "(@ & $s)",
          "(@ - $s)", "(@ ^ $s)", "(@ == $s)", "(@ <= $s)", "(@ < $s)",
          "@.isdisjoint($s)", "@.issubset($s)", "@.union($s)", "@.intersection($s)", "@.difference($s)",
          "(@ if <B> else $s)"),
    tuple: ("@[0]", "@[-1]", "@[1:]", "len(@)", "(@ + @)", "(@ == @)", "@ * 2", "str(@)", "f'{@}'", "(@,)",
            "list(@)", "max(@)",
            "@[<I>]", "@[0] in @", "sum(@)", "@.count(@[0])", "@.index(@[-1])", "{@: 1}", "[@]", "bool(@ < $s)",
            "(@ == $s)", "(@ if <B> else $s)", "max(@, $s)", "(@ + $s)", "[@, $s]", "{@: $s}"),
}
# of a tuple whose items have several types these give one that all join to, as the manual says
OF_ONE_TYPE = ("max(@)", "@[<I>]")
SHOWN = ("str(@)", "f'{@}'")
# what changes a variable
CHANGES = {
    list: ("@.append($i)", "@[<I>] = $i", "@.pop()", "@.insert(<I>, $i)", "@.extend(@)", "@.extend([$i])", "@ += [$i]",
           "@.sort()", "@.sort(reverse=True)", "@.reverse()", "@.remove($i)", "del @[<I>]", "del @[<K>]",
           "@[<K>] = [$i]", "@[<K>] = @",
           "@[1:1] = [$i, $i]", "@ *= <N>", "@.clear()", "@[0], @[-1] = @[-1], @[0]", "@[<I>] += $i", "@ += @",
           "@.pop(<I>)",
           "@[::2] = @[::-2]", "@[0].append(@[0][0])", "@[-1] *= 2"),
    dict: ("@[$k] = $i", "@[$k] = $i", "del @[$k]", "@.pop($k)", "@.clear()", "@.update({$k: $i})",
           "@.setdefault($k, $i)",
           "@[$k] += $i", "@ |= {$k: $i}", "@.popitem()", "@[$k] = @.get($k, $i)", "@.update([($k, $i)])"),
    set: ("@.add($i)", "@.add($i)", "@.discard($i)", "@.remove($i)", "@.clear()", "@ |= {$i}", "@ -= {$i}",
          "@ &= {$i}", "@ ^= {$i}",
          "@.update([$i])", "@.difference_update([$i])", "@.intersection_update({$i})"),
}
SPECIFICATIONS = ("", "d", "5", ">8", "<4", "^7", "*^9", "+", "05d", "x", "#x", "b", "o", ",", "_", ".2f", "8.3f",
                  ".0f", "e", ".3e", "g", ".4g",
                  "G", "%", ".1%", "+.2f", "010.2f", "s", ".2", "5.1", "n", "c", "-^6", "#o", " d", "=+8", ",.2f",
                  "#.3g", "é>5")
CHARACTERS = ("", "a", "b", "ab", " ", ",", "x", "X", "1", "-", "é", "ß", "\t", "\n", "0", "aa", "€", "😀", "ba",
              ".", "'", "%", "{{")
WORDS = ("", "a", "abc", "ab ba", "Hello World", "  x y ", "1,2,,3", "aaa", "été", "ß STRASSE", "ǆ ŉ", "😀b",
         "12",
         "-7", " 42 ",
         "3.5", "1_000", "nan", "tab\tnew\nline", "a\r\nb", "x" * 30, "ΑΣ ς", "½٣", "İi", "1e3", "0x1f", "Ab1_",
         "'q'\"", "\u2028e\u0301", "+5",
         "١٢", "日本", "a,b;c", "%d", "{0}")
ERRORS = ("ValueError", "IndexError", "KeyError", "ZeroDivisionError", "TypeError", "OverflowError", "Exception",
          "LookupError",
          "ArithmeticError", "(ValueError, KeyError)", "(IndexError, ZeroDivisionError)", "RuntimeError",
          "AssertionError")
RAISED = ("ValueError(<T>)", "KeyError(<T>)", "IndexError", "RuntimeError(<I>, <T>)", "ValueError(f'no {<V>}')",
          "KeyError(<I>)",
          "ZeroDivisionError()", "TypeError('bad %s' % <I>)", "AssertionError(<T> + '!')", "LookupError(<F>)",
          "ValueError((<I>, <T>))")
# what is done with a variable, @, that is an int or None
MAYBE = ("(@ if @ is not None else <I>)", "(@ or <I>)", "(@ is None)", "(@ == <I>)", "(@ != None)", "<L>[@:]",
         "<T>[:@]",
         "<L>[::@]", "<T>[@::-1]", "len(<J>[@:@])", "str(@)", "f'{@}'", "repr(@)", "min(@, <I>)", "max(<I>, @, <I>)",
         "divmod(@, 3)", "(@ + <I>)", "(<I> - @)", "(-@)", "(@ < <I>)", "<L>[@]", "(<T> * @)", "range(@)[0]",
         "math.sqrt(@)", "math.gcd(@, <I>)", "bool(@)", "(not @)", "(@ in <J>)", "'%s' % (@,)", "<U>[@:]", "abs(@)",
         "int(@)", "float(@)", "round(@)", "isinstance(@, int)", "[@, <I>].count(@)", "sum([@, <I>])",
         "<T>.find(<C>, @)")
# patterns of match, for a subject of a type
PATTERNS = {
    int: ("0", "1 | 2", "-1", "{x} if {x} > 2", "int({x})", "bool()", "_"),
    str: ("'a'", "'ab' | 'abc'", "''", "str({x}) if {x} < 'b'", "{x} if len({x}) > 3", "_"),
    float: ("0.5", "float({x}) if {x} > 0", "{x} if {x} < 1", "int()", "_"),
    list: ("[]", "[{x}]", "[{x}, _]", "[{x}, *{y}]", "[*{y}, {x}]", "[_, {x}, *_]", "_"),
    tuple: ("({x}, _)", "({x}, *{y})", "(0, {x})", "[_, {x}]", "({x},)", "(1 | 2, {x}) if {x}", "_"),
}
