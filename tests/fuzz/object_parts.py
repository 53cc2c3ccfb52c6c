"""Statements of random programs of objects: exceptions that are made and asked, functions with yield and generator
expressions, context managers, dicts that make what is missing."""

import object_tables as tables
from object_values import has_order, is_a, is_hashable, is_printable, type_of


class Further:
    """What Writer (objects.py) has beside its own."""

    SAID = ("str(@)", "repr(@)", "f'{@}'", "f'{@!r:>30}'", "'%s' % @", "'<{}>'.format(@)", "type(@).__name__",
            "(<T> + str(@))")

    def put_made(self):
        """An exception that is made and asked, and raised on some way."""
        name = self.fresh("e")
        self.put(f"{name} = {self.filled(self.chance.choice(tables.RAISED), 0)}")
        if self.lines[-1].endswith("IndexError"):
            self.lines[-1] += "()"
        for _ in range(self.chance.choice([1, 1, 2])):
            said = self.filled(self.chance.choice(self.SAID), 0).replace("@", name)
            bound = self.fresh()
            self.put(f"{bound} = {said}")
            self.samples[bound] = "ab"
        if self.chance.random() < 0.4:
            cause = self.chance.choice(["", "", f" from {name}", " from None", f" from KeyError({self.slot('T', 0)})"])
            self.put(f"if {self.condition()}:")
            self.put(f"    raise {name}{cause}")

    def items_of(self, given):
        """An expression of the variable of a loop over `given`, that variable, a test, and a sample of the item."""
        x, before = self.fresh("x"), dict(self.samples)
        self.samples[x] = next(iter(self.samples[given]))
        item, test = self.near(x, 1), self.filled("<B>", 1)
        sample, self.samples = self.run(item), before
        return x, item, test, sample if type_of(sample) else None

    def take_all(self, source, sample, walks=True):
        """What an iterator gives is taken, by a loop or by a function."""
        ways = [(f"list({source})", [sample]), (f"[*{source}]", [sample]),
                (f"next({source}, {self.like(sample)})", sample), (f"len([0 for _ in {source}])", 1),
                (f"dict(enumerate({source}))", {0: sample}),
                (f"list(zip({source}, range(3)))", [(sample, 0)]), (f"list(map(str, {source}))", ["ab"])]
        if isinstance(sample, (int, float)):
            ways += [(f"sum({source})", sample), (f"max({source}, default={self.like(sample)})", sample)]
        if is_a(str)(sample):
            ways += [(f"','.join({source})", "ab")]
        if walks and self.loops < 2 and self.chance.random() < 0.35:
            y = self.fresh("y")
            return self.loop(f"for {y} in {source}:", {y: sample})
        text, kept = self.chance.choice([way for way in ways if is_printable(sample) or "str" not in way[0]])
        if type_of(kept):
            name = self.fresh()
            self.put(f"{name} = {text}")
            self.samples[name] = kept
        return None

    def put_generator(self):
        """A function with yield, which is walked once or twice."""
        walked = self.variable(lambda value: has_order(value) and len(value) > 0)
        if not walked or self.loops or self.depth > 1:
            return
        name, given = self.fresh("g"), self.fresh("a")
        inner = type(self)(self.chance, self.counter, dict(self.functions))
        inner.samples = {given: self.samples[walked]}
        x, item, test, sample = inner.items_of(given)
        if sample is None:
            return
        self.put(f"def {name}({given}):")
        self.put(f"    for {x} in {given}:")
        if self.chance.random() < 0.3:
            self.put(f"        if {test}:")
            self.put(f"            {self.chance.choice(['continue', 'break', 'return'])}")
        if self.chance.random() < 0.2:
            self.put("        try:")
            self.put(f"            yield {item}")
            self.put("        finally:")
            self.put(f"            print({given})" if is_printable(self.samples[walked]) else "            pass")
        else:
            self.put(f"        yield {item}")
        if self.chance.random() < 0.3:
            self.put(self.chance.choice([f"    yield {inner.like(sample)}", f"    yield from [{inner.like(sample)}]"]))
        for _ in range(self.chance.choice([1, 1, 2])):
            self.take_all(f"{name}({walked})", sample)

    def put_lazy(self):
        """A generator expression that a variable keeps: what is taken is gone."""
        walked = self.variable(lambda value: has_order(value) and len(value) > 0)
        if not walked or self.loops or walked in self.frozen:
            return
        x, item, test, sample = self.items_of(walked)
        if sample is None:
            return
        name = self.fresh("q")
        self.put(f"{name} = ({item} for {x} in {walked}{f' if {test}' if self.chance.random() < 0.3 else ''})")
        for _ in range(self.chance.choice([1, 2])):
            self.take_all(name, sample, walks=False)

    def put_manager(self):
        name, text = self.fresh(), self.any(1)
        sample = self.run(text)
        if type_of(sample):
            with self.block(f"with contextlib.nullcontext({text}) as {name}:"):
                self.samples[name] = sample
                self.statements(self.chance.choice([1, 2]))

    def put_tables(self):
        """A defaultdict or an OrderedDict, filled by a loop."""
        walked = self.variable(lambda value: has_order(value) and len(value) > 0)
        if not walked or self.loops > 1:
            return
        x, key, test, sample = self.items_of(walked)
        if sample is None or not is_hashable(sample):
            return
        name, kept = self.fresh("d"), self.fresh()
        made, step, value = self.chance.choice([
            ("collections.defaultdict(int)", f"@[{key}] += 1", 1),
            ("collections.OrderedDict()", f"@[{key}] = {x}", None),
            ("collections.defaultdict(list)", f"@[{key}].append({key})", [sample]),
            ("collections.Counter()", f"@[{key}] += 2", 1)])
        self.put(f"{name} = {made}")
        self.put(f"for {x} in {walked}:")
        self.put(f"    {f'if {test}: ' if self.chance.random() < 0.3 else ''}{step.replace('@', name)}")
        if value is None:
            self.put(f"{kept} = list({name}.items())")
            self.samples[kept] = [(sample, next(iter(self.samples[walked])))]
        else:
            self.put(f"{kept} = dict({name})")
            self.samples[kept] = {sample: value}
