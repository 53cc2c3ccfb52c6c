"""operator.itemgetter and attrgetter of literals, as functions: item:1,0 is lambda x: (x[1], x[0])."""


def __getattr__(name):
    kind, colon, parts = name.partition(":")
    if not colon:
        raise AttributeError(name)
    form = "x[{}]" if kind == "item" else "x.{}"
    taken = [form.format(part) for part in parts.split(",")]
    made = eval("lambda x: " + (taken[0] if len(taken) == 1 else f"({', '.join(taken)})"))
    globals()[name] = made  # one function for one text
    return made
