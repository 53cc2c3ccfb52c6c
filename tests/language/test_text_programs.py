"""Programs about texts, as people write them: parsers, tokenisers, interpreters, formats, against the interpreter."""

import string
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import pytest
from oracle import agree

TEXT = """the quick brown fox jumps over the lazy dog
the dog sleeps; the fox runs away
a quick end"""


def case_word_count():
    counts = {}
    for line in TEXT.split("\n"):
        for word in line.split():
            word = word.strip(";.,").lower()
            counts[word] = counts.get(word, 0) + 1
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:4]
    return top, max(counts, key=counts.get), len(counts)


def case_csv():
    rows = []
    for line in "name,age,city\nann,31,Paris\nbob,25,Rome\ncy,40,Paris".splitlines()[1:]:
        name, age, city = line.split(",")
        rows.append((name, int(age), city))
    by_city = defaultdict(list)
    for name, age, city in rows:
        by_city[city].append(age)
    return rows, {city: sum(ages) / len(ages) for city, ages in by_city.items()}


def case_key_values():
    config = {}
    section = ""
    for raw in "[a]\nx = 1\n# remark\ny = two\n\n[b]\nx= 3".split("\n"):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line[0] == "[" and line[-1] == "]":
            section = line[1:-1]
            config[section] = {}
        else:
            key, _, value = line.partition("=")
            config[section][key.strip()] = value.strip()
    return config, config["b"]["x"]


Token = namedtuple("Token", "kind text")


def tokenize(source):
    tokens = []
    i = 0
    while i < len(source):
        c = source[i]
        if c.isspace():
            i += 1
        elif c.isdigit():
            start = i
            while i < len(source) and (source[i].isdigit() or source[i] == "."):
                i += 1
            tokens.append(Token("num", source[start:i]))
        elif c.isalpha():
            start = i
            while i < len(source) and source[i].isalnum():
                i += 1
            tokens.append(Token("name", source[start:i]))
        elif c in "+-*/()=":
            tokens.append(Token("op", c))
            i += 1
        else:
            raise SyntaxError(f"unexpected {c!r} at {i}")
    return tokens


def case_tokenize():
    return tokenize("x1 = 3.5*(y + 42)"), [t.kind for t in tokenize("a=b")]


def case_tokenize_fails():
    try:
        tokenize("a $ b")
    except SyntaxError as e:
        return type(e).__name__, str(e)


class Parser:
    def __init__(self, text):
        self.tokens = tokenize(text)
        self.pos = 0

    def peek(self):
        return self.tokens[self.pos].text if self.pos < len(self.tokens) else ""

    def next(self):
        token = self.tokens[self.pos]
        self.pos += 1
        return token

    def expr(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            op = self.next().text
            right = self.term()
            value = value + right if op == "+" else value - right
        return value

    def term(self):
        value = self.factor()
        while self.peek() == "*" or self.peek() == "/":
            if self.next().text == "*":
                value *= self.factor()
            else:
                value /= self.factor()
        return value

    def factor(self):
        token = self.next()
        if token.text == "(":
            value = self.expr()
            if self.peek() != ")":
                raise ValueError("expected )")
            self.next()
            return value
        if token.text == "-":
            return -self.factor()
        return float(token.text)


def case_calculator():
    out = []
    for text in ["1 + 2 * 3", "(1 + 2) * 3 / 4", "-(2 - 5) * 2", "1 / 0", "(1", "1 + x"]:
        try:
            out.append(str(Parser(text).expr()))
        except (ValueError, ZeroDivisionError, IndexError) as e:
            out.append(f"{type(e).__name__}: {e}")
    return out


def case_rpn():
    stack = []
    for token in "3 4 + 2 * 7 / 5 -".split():
        if token in ["+", "-", "*", "/"]:
            b = stack.pop()
            a = stack.pop()
            if token == "+":
                stack.append(a + b)
            elif token == "-":
                stack.append(a - b)
            elif token == "*":
                stack.append(a * b)
            else:
                stack.append(a / b)
        else:
            stack.append(float(token))
    return stack[0]


def case_caesar():
    def shift(text, k):
        out = []
        for c in text:
            if c in string.ascii_lowercase:
                out.append(chr((ord(c) - ord("a") + k) % 26 + ord("a")))
            elif c.isupper():
                out.append(chr((ord(c) - 65 + k) % 26 + 65))
            else:
                out.append(c)
        return "".join(out)

    secret = shift("Hello, World", 3)
    return secret, shift(secret, -3)


def case_run_length():
    def encode(s):
        result = ""
        i = 0
        while i < len(s):
            n = 1
            while i + n < len(s) and s[i + n] == s[i]:
                n += 1
            result += f"{n}{s[i]}"
            i += n
        return result

    def decode(s):
        result = []
        count = ""
        for c in s:
            if c.isdigit():
                count += c
            else:
                result.append(c * int(count))
                count = ""
        return "".join(result)

    return encode("aaabccdddd"), decode(encode("wwwwwwwwwwwwb"))


def case_roman():
    pairs = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
             (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]  # fmt: skip

    def to_roman(n):
        s = ""
        for value, letters in pairs:
            while n >= value:
                s += letters
                n -= value
        return s

    def from_roman(s):
        values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
        total = 0
        for i, c in enumerate(s):
            v = values[c]
            if i + 1 < len(s) and values[s[i + 1]] > v:
                total -= v
            else:
                total += v
        return total

    return [to_roman(n) for n in (4, 9, 1994, 2026)], from_roman("MCMXCIV")


class TrieNode:
    def __init__(self):
        self.children = {}
        self.end = False


class Trie:
    def __init__(self):
        self.root = TrieNode()

    def insert(self, word):
        node = self.root
        for c in word:
            if c not in node.children:
                node.children[c] = TrieNode()
            node = node.children[c]
        node.end = True

    def search(self, word):
        node = self.find(word)
        return node is not None and node.end

    def starts_with(self, prefix):
        return self.find(prefix) is not None

    def find(self, prefix):
        node = self.root
        for c in prefix:
            if c not in node.children:
                return None
            node = node.children[c]
        return node

    def words(self, node, prefix):
        found = []
        if node.end:
            found.append(prefix)
        for c in sorted(node.children):
            found += self.words(node.children[c], prefix + c)
        return found


def case_trie():
    trie = Trie()
    for word in ["car", "cat", "cart", "dog"]:
        trie.insert(word)
    return trie.search("car"), trie.search("ca"), trie.starts_with("ca"), trie.words(trie.root, "")


def case_brainfuck():
    program = "++++++[>++++++++<-]>+.+.+."
    tape = [0] * 30
    jumps = {}
    stack = []
    for i, c in enumerate(program):
        if c == "[":
            stack.append(i)
        elif c == "]":
            j = stack.pop()
            jumps[i], jumps[j] = j, i
    at = pc = 0
    out = ""
    while pc < len(program):
        match program[pc]:
            case ">":
                at += 1
            case "<":
                at -= 1
            case "+":
                tape[at] = (tape[at] + 1) % 256
            case "-":
                tape[at] = (tape[at] - 1) % 256
            case ".":
                out += chr(tape[at])
            case "[" if tape[at] == 0:
                pc = jumps[pc]
            case "]" if tape[at] != 0:
                pc = jumps[pc]
        pc += 1
    return out


@dataclass
class Machine:
    registers: dict
    output: list = field(default_factory=list)
    pc: int = 0

    def value(self, x):
        return self.registers[x] if x.isalpha() else int(x)

    def run(self, program):
        while self.pc < len(program):
            op, *args = program[self.pc].split()
            if op == "set":
                self.registers[args[0]] = self.value(args[1])
            elif op == "add":
                self.registers[args[0]] += self.value(args[1])
            elif op == "jnz":
                if self.value(args[0]) != 0:
                    self.pc += int(args[1])
                    continue
            elif op == "out":
                self.output.append(self.value(args[0]))
            else:
                raise ValueError(f"bad instruction {op}")
            self.pc += 1


def case_assembler():
    machine = Machine({"a": 0, "b": 0})
    machine.run(["set a 3", "add b 10", "add a -1", "jnz a -2", "out b", "out a"])
    return machine.output, machine.registers, repr(machine)


def case_anagrams():
    groups = {}
    for word in ["eat", "tea", "tan", "ate", "nat", "bat"]:
        key = "".join(sorted(word))
        groups.setdefault(key, []).append(word)
    return sorted(groups.values(), key=len, reverse=True)


def case_palindromes():
    def is_palindrome(s):
        s = "".join(c.lower() for c in s if c.isalnum())
        return s == s[::-1]

    best = ""
    s = "forgeeksskeegfor"
    for i in range(len(s)):
        for j in range(i + 1, len(s) + 1):
            if j - i > len(best) and s[i:j] == s[i:j][::-1]:
                best = s[i:j]
    return is_palindrome("A man, a plan, a canal: Panama"), best


def case_levenshtein():
    a, b = "kitten", "sitting"
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]


def case_balanced():
    def balanced(s):
        pairs = {")": "(", "]": "[", "}": "{"}
        stack = []
        for c in s:
            if c in pairs.values():
                stack.append(c)
            elif c in pairs:
                if not stack or stack.pop() != pairs[c]:
                    return False
        return not stack

    return [balanced(s) for s in ["([]{})", "([)]", "((", ""]]


def case_table():
    rows = [("apple", 3, 1.5), ("kiwi", 12, 0.25)]
    lines = [f"{'name':<8}|{'qty':>4}|{'price':>8}", "-" * 22]
    for name, qty, price in rows:
        lines.append(f"{name:<8}|{qty:>4d}|{price:>8.2f}")
    lines.append(f"total {sum(q * p for _, q, p in rows):.3f}".rjust(22))
    return "\n".join(lines)


def case_dna():
    dna = "ATGGCCATTGTAATG"
    complement = {"A": "T", "T": "A", "C": "G", "G": "C"}
    reverse = "".join(complement[base] for base in reversed(dna))
    counts = Counter(dna)
    codons = [dna[i:i + 3] for i in range(0, len(dna) - 2, 3)]
    return reverse, counts["G"] / len(dna), codons, Counter(codons).most_common(1)


class LRUCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.cache = OrderedDict()

    def get(self, key):
        if key not in self.cache:
            return -1
        self.cache.move_to_end(key)
        return self.cache[key]

    def put(self, key, value):
        if key in self.cache:
            self.cache.move_to_end(key)
        self.cache[key] = value
        if len(self.cache) > self.capacity:
            self.cache.popitem(last=False)


def case_lru():
    cache = LRUCache(2)
    cache.put(1, 10)
    cache.put(2, 20)
    first = cache.get(1)
    cache.put(3, 30)
    return first, cache.get(2), cache.get(3), list(cache.cache.items()), len(cache.cache)


def case_ordered_dict():
    d = OrderedDict()
    for i, c in enumerate("dbca"):
        d[c] = i
    d.move_to_end("b")
    d.move_to_end("c", last=False)
    e = OrderedDict([("x", 1), ("y", 2)])
    same = e == OrderedDict([("y", 2), ("x", 1)]), e == {"y": 2, "x": 1}
    last = d.popitem()
    return d, last, list(d), "a" in d, d.get("z", -1), same, repr(e), [k for k in reversed(d)], d.pop("q", 9)


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_texts(name):
    agree(globals()[name])
