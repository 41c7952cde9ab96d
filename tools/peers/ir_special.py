"""Operations whose text follows no declared format: modules, functions, loops, views."""

from __future__ import annotations

from ir_bytecode import Block, Entry, Operation, Value
from ir_types import DYNAMIC, VIEWS, NotInBytecode, Type, parse_type, parse_types
from ir_values import ENDS


class SpecialOperations:
    """A part of ir_text.Reader: `op_<name>` reads what follows the name of an operation."""

    def op_module(self) -> list[Value]:
        self.scan.take(r"@[\w$.-]+", "a name")
        if self.scan.literal("attributes"):
            self.dictionary(Operation("module"))
        self.scan.expect("{")
        while not self.scan.literal("}"):
            self.operation()
        return []

    def op_entry(self) -> list[Value]:
        return self.function(native=True)

    def op_testing_func(self) -> list[Value]:
        return self.function(native=False)

    def function(self, native: bool) -> list[Value]:
        """A function of the tests gets what an entry cannot take from operations at its start."""
        name = self.scan.take(r"@[\w$.-]+", "a name")[1:]
        arguments = self.arguments()
        results = self.type_list() if self.scan.literal("->") else []
        entry = Entry(name, [], Block(), results if native else [])
        if self.scan.literal("optimization_hints"):
            self.scan.expect("=")
            entry.hints = self.hints()
        if self.scan.literal("attributes"):
            self.dictionary(Operation("entry"))
        self.open(entry.body)
        for argument, of in arguments:
            if native or of.kind == "element" or (of.kind == "tile" and not of.shape):
                entry.parameters.append(Value(of))
                self.scopes[-1][argument] = entry.parameters[-1]
            else:
                self.scopes[-1][argument] = self.make(of)
        self.scan.expect("{")
        while not self.scan.literal("}"):
            self.operation()
        if not native:
            self.return_nothing(entry.body, results)
        self.close("return")
        self.entries.append(entry)
        return []

    def return_nothing(self, body: Block, results: list[Type]) -> None:
        """Functions of the tests may return values; entries, which take their place, return none."""
        if results and body is self.bodies[-1] and (not body.operations or body.operations[-1].name not in ENDS):
            raise NotInBytecode("only functions of the tests return values")
        for operation in body.operations:
            if operation.name == "return":
                if [value.type for value in operation.groups["operands"]] != results:
                    raise NotInBytecode("only functions of the tests return values")
                operation.groups["operands"] = []
            for region in operation.regions:
                if region is not None:
                    self.return_nothing(region, results)

    def op_global(self) -> list[Value]:
        self.scan.match(r"(public|private)\b")
        self.scan.literal("constant")
        name = self.scan.take(r"@[\w$.-]+", "a name")[1:]
        alignment = self.attribute("alignment") if self.scan.match(r"alignment\s*=") else 0
        self.module.add_global(name, self.dense(), alignment)
        return []

    def order_and_scope(self, operation: Operation) -> None:
        operation.attributes["memory_ordering_semantics"] = self.enum("memory_ordering_semantics")
        if not self.scan.looking_at("%"):
            operation.attributes["memory_scope"] = self.enum("memory_scope")

    def token_and_hints(self, operation: Operation) -> None:
        if self.scan.literal("token"):
            self.scan.expect("=")
            operation.groups["token"] = [self.value()]
        if self.scan.literal("optimization_hints"):
            self.scan.expect("=")
            operation.attributes["optimization_hints"] = self.hints()
        self.dictionary(operation)

    def indices(self, operation: Operation) -> None:
        self.scan.expect("[")
        operation.groups["index"] = self.values()
        self.scan.expect("]")

    def op_load_view_tko(self) -> list[Value]:
        operation = Operation("load_view_tko")
        self.order_and_scope(operation)
        operation.groups["view"] = [self.value()]
        self.indices(operation)
        self.token_and_hints(operation)
        self.scan.expect(":")
        parse_types(self.scan)
        self.scan.expect("->")
        operation.results = [Value(of) for of in parse_types(self.scan)]
        return self.emit(operation).results

    def op_store_view_tko(self) -> list[Value]:
        operation = Operation("store_view_tko")
        self.order_and_scope(operation)
        operation.groups["tile"] = [self.value()]
        self.scan.expect(",")
        operation.groups["view"] = [self.value()]
        self.indices(operation)
        return self.token_result(operation)

    def op_atomic_red_view_tko(self) -> list[Value]:
        operation = Operation("atomic_red_view_tko")
        self.order_and_scope(operation)
        operation.groups["view"] = [self.value()]
        self.indices(operation)
        self.scan.expect(",")
        operation.attributes["mode"] = self.enum("mode")
        self.scan.expect(",")
        operation.groups["value"] = [self.value()]
        return self.token_result(operation)

    def token_result(self, operation: Operation) -> list[Value]:
        self.token_and_hints(operation)
        self.scan.expect(":")
        parse_types(self.scan)
        self.scan.expect("->")
        operation.results = [Value(parse_type(self.scan))]
        return self.emit(operation).results

    def shape_of(self, name: str) -> list[Value]:
        source = self.value()
        self.scan.expect(":")
        view = parse_type(self.scan)
        self.scan.expect("->")
        result = parse_type(self.scan)
        wanted = ("tensor_view",) if name == "get_tensor_shape" else VIEWS
        if view.kind not in wanted:
            raise NotInBytecode(f"the number of results of a {view.kind} is unknown")
        operation = Operation(name, {"src": [source]}, results=[Value(result) for _ in view.shape])
        return self.emit(operation).results

    def op_get_tensor_shape(self) -> list[Value]:
        return self.shape_of("get_tensor_shape")

    def op_get_index_space_shape(self) -> list[Value]:
        return self.shape_of("get_index_space_shape")

    def make_view(self, kind: str) -> list[Value]:
        groups = {"tensor_view": [self.value()]}
        self.scan.expect(":")
        of = parse_type(self.scan)
        if of.kind != kind:
            raise NotInBytecode(f"wanted a {kind}")
        return self.emit(Operation("make_" + kind, groups, results=[Value(of)])).results

    def op_make_partition_view(self) -> list[Value]:
        return self.make_view("partition_view")

    def op_make_strided_view(self) -> list[Value]:
        return self.make_view("strided_view")

    def op_make_gather_scatter_view(self) -> list[Value]:
        return self.make_view("gather_scatter_view")

    def op_make_tensor_view(self) -> list[Value]:
        groups = {"base": [self.value()]}
        texts: dict[str, list[str]] = {"shape": [], "strides": []}
        while self.scan.literal(","):
            word = self.scan.take(r"shape|strides")
            self.scan.expect("=")
            self.scan.expect("[")
            texts[word] = [item.strip() for item in self.scan.balanced("]").split(",") if item.strip()]
            self.scan.expect("]")
        for word, group in (("shape", "dynamic_shape"), ("strides", "dynamic_strides")):
            groups[group] = [self.lookup(item) for item in texts[word] if item.startswith("%")]
        self.scan.expect(":")
        types = [parse_type(self.scan)]
        while self.scan.match(r"->|,"):
            types.append(parse_type(self.scan))
        of = types[-1]
        if of.kind != "tensor_view":
            raise NotInBytecode("wanted a tensor_view")
        for word, sizes in (("shape", of.shape), ("strides", of.strides)):
            written = ["?" if item.startswith("%") else item for item in texts[word]]
            if written != ["?" if size == DYNAMIC else str(size) for size in sizes]:
                raise NotInBytecode(f"the {word} of the operation is not that of its type")
        return self.emit(Operation("make_tensor_view", groups, results=[Value(of)])).results

    def initial_values(self) -> tuple[list[str], list[Value]]:
        names, values = [], []
        if self.scan.literal("iter_values"):
            self.scan.expect("(")
            while not self.scan.literal(")"):
                names.append(self.value_name())
                self.scan.expect("=")
                values.append(self.value())
                self.scan.match(",")
        return names, values

    def op_for(self) -> list[Value]:
        operation = Operation("for")
        if self.scan.literal("unsigned"):
            operation.attributes["unsigned_cmp"] = True
        counter = self.value_name()
        self.scan.expect("in")
        self.scan.expect("(")
        for word, end in (("lower_bound", "to"), ("upper_bound", ","), ("step", ")")):
            if word == "step":
                self.scan.expect("step")
            operation.groups[word] = [self.value()]
            self.scan.expect(end)
        self.scan.expect(":")
        of = parse_type(self.scan)
        names, operation.groups["init_values"] = self.initial_values()
        results = self.type_list() if self.scan.literal("->") else []
        if len(results) != len(names):
            raise NotInBytecode(f"{len(results)} types for {len(names)} values")
        arguments = [(counter, of), *zip(names, results, strict=True)]
        operation.regions.append(self.region(arguments, "continue"))
        operation.results = [Value(result) for result in results]
        return self.emit(operation).results

    def op_loop(self) -> list[Value]:
        operation = Operation("loop")
        names, operation.groups["init_values"] = self.initial_values()
        types = self.bare_types() if self.scan.literal(":") else []
        arguments, results = (types, types) if names else ([], types)
        if names and self.scan.literal("->"):
            results = self.bare_types()
        elif names:
            results = []
        if len(arguments) != len(names):
            raise NotInBytecode(f"{len(arguments)} types for {len(names)} values")
        operation.regions.append(self.region(list(zip(names, arguments, strict=True)), "continue"))
        operation.results = [Value(result) for result in results]
        return self.emit(operation).results

    def bare_types(self) -> list[Type]:
        return self.type_list() if self.scan.looking_at(r"\(") else parse_types(self.scan)
